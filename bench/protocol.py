"""How run.py, cluster.py and check_peers.py talk to a peer: one process, a line in, a line of JSON out.

A peer without a request is stopped (SIGSTOP), so that its spinning threads do not disturb the one being
measured.
"""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # Debian's, which python3-torch belongs to

# What is taken from PyPI, in environments under the build folder that are made once and kept.
VECTOR_PEERS = ("venv-vectors", ["numpy", "scikit-learn", "faiss-cpu", "threadpoolctl"])
TORCH = ("venv-torch", ["torch", "numpy", "setuptools"])  # some gigabytes

# The most that each library may use, so that a comparison can be held at one instruction set.
ISA = {
    "avx512": {"IMP_ISA": "avx512"},
    "avx2": {"IMP_ISA": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
             "ATEN_CPU_CAPABILITY": "avx2", "OPENBLAS_CORETYPE": "Haswell",
             "FAISS_SIMD_LEVEL": "AVX2", "PEAK_ISA": "avx2"},
    "portable": {"IMP_ISA": "portable", "ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41",
                 "ATEN_CPU_CAPABILITY": "default", "OPENBLAS_CORETYPE": "Nehalem",
                 "FAISS_SIMD_LEVEL": "NONE", "PEAK_ISA": "portable"},
}


def commands(build, imp):
    """Every peer's command line, by the name it answers with."""
    program = os.path.join(HERE, "peers", "torch_network.py")
    torch, torch2 = [PYTHON, program], [interpreter(build, TORCH[0]), program]
    onednn = os.path.join(build, "onednn_conv4")
    return {
        "imp": [imp, "bench", "--serve"],
        "imp-avx512": [imp, "bench", "--serve"],
        "imp-avx2": [imp, "bench", "--serve"],
        "imp-portable": [imp, "bench", "--serve"],
        "onednn-best": [onednn, "best"],
        "onednn-direct": [onednn, "direct"],
        "onednn-winograd": [onednn, "winograd"],
        "onednn-auto": [onednn, "auto"],
        "onednn-nhwc": [onednn, "nhwc"],
        "onednn-pooling": [onednn, "pooling"],
        "torch-nchw": torch + ["nchw"],
        "torch-channels-last": torch + ["channels-last"],
        "torch-channels-last-tuned": torch + ["channels-last", "--tuned"],
        "torch-mkldnn-tuned": torch + ["mkldnn", "--tuned"],
        "torch-frozen-tuned": torch + ["frozen", "--tuned"],
        "torch-frozen-channels-last-tuned": torch + ["frozen-channels-last", "--tuned"],
        "torch-best": torch + ["best", "--tuned"],
        "torch2-nchw": torch2 + ["nchw"],
        "torch2-channels-last-tuned": torch2 + ["channels-last", "--tuned"],
        "torch2-mkldnn-tuned": torch2 + ["mkldnn", "--tuned"],
        "torch2-compiled-tuned": torch2 + ["compiled", "--tuned"],
        "torch2-best": torch2 + ["best", "--tuned"],
        "peak": [os.path.join(build, "peak")],
    }


class Unavailable(Exception):
    """A peer cannot be started, or ended instead of answering."""


class Peer:
    """A running peer, stopped between questions. Use as a context manager."""

    def __init__(self, command, settings):
        settings = {**os.environ, **settings}
        # Huge pages for what a library allocates itself; its user's memory asks for them anyway.
        # PyTorch is left as it comes, except where its tuned way sets this itself.
        if "torch_network.py" not in " ".join(command):
            settings["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True, env=settings)
        except OSError as error:
            raise Unavailable(f"{command[0]}: {error.strerror}") from None
        self.hello = self.ask("hello")
        if "unavailable" in self.hello:
            self.close()
            raise Unavailable(self.hello["unavailable"])

    def ask(self, line):
        """The answer to one line, as a dictionary."""
        try:
            self.process.send_signal(signal.SIGCONT)
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Unavailable(f"ended without an answer to '{line}'")
        self.process.send_signal(signal.SIGSTOP)
        try:
            return json.loads(answer)
        except ValueError:
            raise Unavailable(f"answered '{line}' with '{answer.strip()}'") from None

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            try:
                self.process.communicate("quit\n", timeout=10)
            except (subprocess.TimeoutExpired, BrokenPipeError):
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def environment(name, isa):
    """What a peer's surroundings need: the instruction set all are held to, or imp's own variant. What
    torch.compile keeps for the next time knows no instruction set, and fails when it is mixed."""
    if name.startswith("imp-"):
        return {"IMP_ISA": name[len("imp-"):]}
    kept = os.path.join(tempfile.gettempdir(), f"bench-torch-compile-{isa or 'native'}")
    return {**ISA.get(isa, {}), "TORCHINDUCTOR_CACHE_DIR": kept}


def interpreter(build, folder):
    return os.path.join(build, folder, "bin", "python3")


def pypi_python(build, folder, packages):
    """The Python that has these packages, and a sentence on where they are from: PyPI, or Debian where
    they cannot be had there."""
    complete = os.path.join(build, folder, "complete")
    python = interpreter(build, folder)
    if not os.path.exists(complete):
        try:
            subprocess.run([PYTHON, "-m", "venv", os.path.join(build, folder)], check=True,
                           stdout=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "--quiet"] + packages, check=True,
                           stdout=sys.stderr)
            with open(complete, "w"):
                pass
        except (OSError, subprocess.CalledProcessError) as error:
            return PYTHON, f"Debian's, because PyPI's could not be had ({error})"
    return python, "PyPI's"


def vector_python(build):
    """The Python that scikit-learn and faiss run in."""
    return pypi_python(build, *VECTOR_PEERS)


def torch_python(build):
    """The Python that PyTorch 2 runs in; Debian's has an older one."""
    return pypi_python(build, *TORCH)


def add_places(parser, result):
    """Options that say where the library, the peers' environments and the result file are."""
    root = os.path.dirname(HERE)
    parser.add_argument("--library", default=os.path.join(root, "build/release/lib/libimp.so"))
    parser.add_argument("--build", default=os.path.join(root, "build", "bench"))
    parser.add_argument("--output", default=os.path.join(HERE, "results", result))


def conclude(report, path, line):
    """Prints a line for each of the report's rows, which have a range, and the absent peers; then
    writes the report."""
    for row in report["rows"]:
        low, high = row["range"]
        print(f"  {line(row)}  ({low:.2f}..{high:.2f})")
    for name, reason in report["absent"].items():
        print(f"  absent: {name}: {reason}")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")


def run_inside(build, folder, packages, library):
    """Starts the program again by the Python that has these packages, with pyimp over the library; the
    second time it comes back at once."""
    if "IMP_BENCH_INSIDE" in os.environ:
        return
    python, where = pypi_python(build, folder, packages)
    print(f"peers are {where}", flush=True)
    os.environ.update(IMP_BENCH_INSIDE="1", IMP_LIBRARY=library,
                      PYTHONPATH=os.path.join(os.path.dirname(HERE), "python"))
    os.execv(python, [python, *sys.argv])


def installed(packages):
    """The versions of packages, None where one is not there."""
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return versions
