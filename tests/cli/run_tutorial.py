#!/usr/bin/python3
"""Runs the commands of a page and compares what they print with what the page shows.

    run_tutorial.py [--update] PAGE IMP

In a block that begins with ```console, lines with "$ " are commands, lines with "> " go on with
them, and the others are what they print, on either stream. All blocks of a page share one new
folder. --update writes what was printed to the page instead.
"""
import os
import subprocess
import sys
import tempfile


def blocks(lines):
    """The (first, end) line numbers of the insides of console blocks."""
    first = None
    for number, line in enumerate(lines):
        if first is None and line == "```console":
            first = number + 1
        elif first is not None and line == "```":
            yield first, number
            first = None


def steps(lines):
    """The commands of a block, each with its lines and with what it is shown to print."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append(([line], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line)
        else:
            found[-1][1].append(line)
    return found


def run(typed, folder, environment):
    command = "\n".join(line[2:] for line in typed)
    result = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = result.stdout.splitlines()
    if result.returncode != 0:
        sys.exit(f"{command}\nends with {result.returncode}:\n{result.stdout}")
    return printed


def main():
    update = sys.argv[1] == "--update"
    page, imp = sys.argv[-2:]
    with open(page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        binaries = os.path.join(folder, "bin")
        os.mkdir(binaries)
        os.symlink(os.path.realpath(imp), os.path.join(binaries, "imp"))
        # The system's Python is the one that has NumPy.
        os.symlink("/usr/bin/python3", os.path.join(binaries, "python3"))
        environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ["PATH"], LC_ALL="C")
        written, at, count = [], 0, 0
        for first, end in blocks(lines):
            written += lines[at:first]
            for typed, shown in steps(lines[first:end]):
                printed = run(typed, folder, environment)
                if printed != shown and not update:
                    sys.exit("\n".join(typed + ["prints"] + printed + ["and not"] + shown))
                written += typed + printed
                count += 1
            at = end
    if count == 0:
        sys.exit(f"{page} has no commands")
    if update:
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(written + lines[at:]) + "\n")


main()
