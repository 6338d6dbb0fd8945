"""Write docs/modules.md: every module of podium with the first sentence of its docstring.

python docs/modules.py            # write the page
python docs/modules.py --print    # print it instead
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "src" / "podium"

INTRODUCTION = """\
# Modules

Paths are below `src/podium/`. `make modules-page` writes this page from the first sentence of each
module's docstring; [architecture.md](architecture.md) says how the parts fit together.
"""


def page() -> str:
    rows_by_package: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE)
        rows_by_package[name.parts[0] if len(name.parts) > 1 else "podium"].append(row(path, name))
    tables = (table(package, rows) for package, rows in sorted(rows_by_package.items()))
    return "\n".join((INTRODUCTION, *tables))


def table(package: str, rows: list[str]) -> str:
    return "\n".join((f"## {package}", "", "| Module | What it is for |", "|---|---|", *rows, ""))


def row(path: Path, name: Path) -> str:
    return f"| `{name.as_posix()}` | {summary(path)} |"


def summary(path: Path) -> str:
    """Return the first paragraph of the module's docstring as one line without a full stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    first = " ".join(docstring.partition("\n\n")[0].split())
    return first.replace("``", "`").replace("|", "\\|").removesuffix(".")


if __name__ == "__main__":
    if "--print" in sys.argv[1:]:
        sys.stdout.write(page())
    else:
        (HERE / "modules.md").write_text(page())
