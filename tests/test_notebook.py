"""The notebook runs as in Jupyter, inside a running event loop; the page's scenario is read."""

import ast
import asyncio
import json
from pathlib import Path

from podium.api.manifests import documents
from podium.cli.scenario_file import read_scenario

NOTEBOOK = Path(__file__).resolve().parent.parent / "examples" / "simulation.ipynb"
CELLS = json.loads(NOTEBOOK.read_text())["cells"]


def run_cell(source, names):
    """Run a cell; return the value of its last line, as Jupyter shows it, or None."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


async def run_all():
    names = {"__name__": "__main__"}
    sources = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
    return [run_cell(source, names) for source in sources]


def test_all_cells_run_and_show_tables():
    shown = asyncio.run(run_all())

    pictured = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pictured) >= 6
    assert all("<table>" in html for html in pictured)


def test_it_is_stored_without_outputs():
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in CELLS)


def test_the_scenario_of_the_page_is_read(tmp_path):
    page = (NOTEBOOK.parent.parent / "docs" / "simulation.md").read_text()
    text = page.split("```yaml\n")[1].split("```")[0]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    for name in ("web.yaml", "pod.yaml"):
        (tmp_path / name).write_text(json.dumps(pod))
    (tmp_path / "scenario.yaml").write_text(text)

    (scenario,) = documents(text)
    assert len(read_scenario(tmp_path / "scenario.yaml")) == len(scenario["steps"])
