"""The declarations in _api.py are those of the headers, and the version is the library's."""

import ctypes
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, environment

import pyimp
from pyimp import _api

CHECK = """
#include <stdio.h>
#include <imp/imp.h>
int main(void)
{
    %s
    return 0;
}
"""


class Declarations(unittest.TestCase):
    def test_structures_are_laid_out_as_in_the_headers(self):
        lines, expected = [], []
        for name, structure in _api.STRUCTURES.items():
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            expected.append((name, ctypes.sizeof(structure)))
            for member, _ in structure._fields_:
                place = f"{name}, {member}"
                lines.append(f'printf("%zu\\n", offsetof({place}));')
                expected.append((place, getattr(structure, member).offset))
                lines.append(f'printf("%zu\\n", sizeof((({name} *)0)->{member}));')
                expected.append((f"size of {place}", getattr(structure, member).size))
        found = self.run_program("#include <stddef.h>\n" + CHECK % "\n    ".join(lines))
        self.assertEqual(found, [size for _, size in expected], expected)

    def test_enumerations_have_the_headers_numbers(self):
        names = [
            *("IMP_OK", "IMP_EINVAL", "IMP_ENOMEM", "IMP_EIO", "IMP_EFORMAT", "IMP_EUNSUPPORTED"),
            *("IMP_FLAG", "IMP_INTEGER", "IMP_NUMBER"),
            *("IMP_ORDER_DEFAULT", "IMP_ORDER_GIVEN", "IMP_ORDER_RANDOM"),
            "IMP_ORDER_FARTHEST_FIRST",
            *("IMP_ARITHMETIC", "IMP_GEOMETRIC", "IMP_MIN", "IMP_MAX"),
            *("IMP_INK_OWN", "IMP_INK_AS_IS", "IMP_INK_INVERT"),
            *("IMP_INVERT_NONE", "IMP_INVERT_ALL", "IMP_INVERT_LIGHT"),
            *("IMP_FOR_TRAINING", "IMP_FOR_VALIDATION", "IMP_FOR_TESTING"),
            *("IMP_POOL_OF_PURPOSE", "IMP_POOL_TRAIN", "IMP_POOL_VALIDATION"),
            *("IMP_POOL_TEST", "IMP_POOL_ALL"),
        ]
        statuses = [_api.OK, _api.EINVAL, _api.ENOMEM, _api.EIO, _api.EFORMAT, _api.EUNSUPPORTED]
        kinds = [_api.FLAG, _api.INTEGER, _api.NUMBER]
        tables = [_api.ORDERS, _api.AVERAGES, _api.INKS, _api.INVERSIONS]
        tables += [_api.PURPOSES, _api.POOLS]
        expected = statuses + kinds + [number for table in tables for number in table.values()]
        lines = "\n    ".join(f'printf("%d\\n", (int){name});' for name in names)
        self.assertEqual(self.run_program(CHECK % lines), expected)

    def test_functions_take_as_many_arguments_as_in_the_headers(self):
        headers = "".join(path.read_text() for path in (SOURCE / "include/imp").glob("*.h"))
        for name, (_, arguments) in _api.FUNCTIONS.items():
            declared = re.search(rf"IMP_API[^;]*\b{name}\(([^)]*)\);", headers).group(1)
            count = 0 if declared == "void" else declared.count(",") + 1
            self.assertEqual(len(arguments), count, name)

    def run_program(self, text):
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "check.c"), Path(folder, "check")
            source.write_text(text)
            compiler = ["cc", f"-I{SOURCE / 'include'}", str(source), "-o", str(program)]
            subprocess.run(compiler, check=True, env=environment())
            done = subprocess.run([program], check=True, env=environment(), stdout=subprocess.PIPE)
            return [int(line) for line in done.stdout.split()]


class Version(unittest.TestCase):
    def test_package_and_header_state_the_same(self):
        header = (SOURCE / "include/imp/version.h").read_text()
        stated = re.search(r'IMP_VERSION_STRING "(.*)"', header).group(1)
        self.assertEqual(pyimp.__version__, stated)
        citation = (SOURCE / "CITATION.cff").read_text()
        self.assertIn(f"\nversion: {stated}\n", citation)
        date = re.search(r'IMP_VERSION_DATE "(.*)"', header).group(1)
        self.assertIn(f"\ndate-released: {date}\n", citation)
        self.assertIn(f"\n## [{stated}] - {date}\n", (SOURCE / "CHANGELOG.md").read_text())


if __name__ == "__main__":
    unittest.main()
