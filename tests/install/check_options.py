#!/usr/bin/python3
"""check_options.py LIBRARY COMPILER [FLAG]: programs older and newer than the library get on with it.

Compiles options.c against the headers as they are, against headers whose structs with a size, those
of options above all, lack their last members, and against some that have one member more; all must
print the same.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
STRUCT = re.compile(r"typedef struct (imp_\w+) \{(.*?)\n\} \1;", re.S)
PART = "imp_glyph_options"  # of another, so it cannot grow


def grows(struct):
    """Options, and what has a size although it is something else."""
    name, body = struct.groups()
    return (name.endswith("_options") and name != PART) or re.match(r"\s*size_t size;", body)


def shorter(members):
    """Without the last two: one alone may only be padding."""
    return members[:-2] if len(members) > 2 else members[:-1]


def longer(members):
    return [*members, "double added"]


def change(text, edit):
    """The header with its structs that may grow edited, and the names of those."""

    def rewrite(match):
        if not grows(match):
            return match.group()
        name, body = match.groups()
        members = re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")
        kept = edit([" ".join(member.split()) for member in members if member.strip()])
        return f"typedef struct {name} {{ {'; '.join(kept)}; }} {name};"

    names = {match.group(1) for match in STRUCT.finditer(text) if grows(match)}
    return STRUCT.sub(rewrite, text), names


def compile_against(folder, name, edit, library, compiler):
    include = folder / name / "imp"
    shutil.copytree(INCLUDE / "imp", include)
    found = set()
    for header in include.glob("*.h"):
        text, names = change(header.read_text(), edit)
        header.write_text(text)
        found |= names
    program = folder / f"{name}-program"
    flags = [f"-I{include.parent}", "-std=gnu11", *(["-DLONGER"] if edit is longer else [])]
    source = HERE / "options.c"
    subprocess.run([*compiler, *flags, source, library, "-o", program], check=True)
    return program, found


def run(program, library):
    where = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
    done = subprocess.run([program], env=where, text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{program.name} failed")
    return done.stdout


def main():
    library = Path(sys.argv[1]).resolve()
    compiler = sys.argv[2:]
    filled = set(re.findall(r"(?:BEGIN|ROOM)\((imp_\w+)", (HERE / "options.c").read_text()))
    said = {}
    with tempfile.TemporaryDirectory() as name:
        for kind, edit in (("same", list), ("shorter", shorter), ("longer", longer)):
            program, found = compile_against(Path(name), kind, edit, library, compiler)
            if found != filled:
                sys.exit(f"options.c fills {sorted(filled)}, but what may grow is {sorted(found)}")
            said[kind] = run(program, library)
    for kind in ("shorter", "longer"):
        if said[kind] != said["same"]:
            sys.exit(f"with {kind} structs the program says\n{said[kind]}instead of\n{said['same']}")
    print(said["same"], end="")


main()
