"""Tables of result files in bench/README.md: each stands between two marks that name its file."""

import os

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md")


def put(name, table):
    """Replaces what stands between the marks of `name`, such as "engine.json"."""
    begin, end = f"<!-- {name} begins -->", f"<!-- {name} ends -->"
    with open(PAGE, encoding="utf-8") as f:
        before, rest = f.read().split(begin)
    after = rest.split(end)[1]
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(f"{before}{begin}\n{table}\n{end}{after}")
    print(f"written: {os.path.relpath(PAGE)}")
