"""Results as tables: rows, frames, and what notebooks show."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from podium.errors import PodiumError
from podium.simulation import Simulation
from podium.simulation.tables import Table
from podium.testing.builders import node, pod


@pytest.fixture
def result():
    simulated = Simulation.from_objects(
        [
            node("n1", cpu="2"),
            pod("low", node="n1", cpu="2"),
            pod("high", cpu="2", priority=9),
            pod("huge", cpu="9"),
        ]
    )
    return simulated.schedule()


def test_rows_have_equal_columns(result):
    rows = result.rows()

    assert [(row["change"], row["pod"]) for row in rows] == [
        ("placed", "default/high"),
        ("unplaced", "default/huge"),
        ("evicted", "default/low"),
    ]
    assert len({tuple(row) for row in rows}) == 1
    assert repr(result) == "<ScheduleResult: 1 placed, 1 without a node, 1 evicted>"


@pytest.mark.parametrize(("name", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_frames_are_made_of_the_rows(result, name, method, monkeypatch):
    library = ModuleType(name)
    library.DataFrame = list
    monkeypatch.setitem(sys.modules, name, library)

    assert getattr(result, method)() == result.rows()


@pytest.mark.parametrize(("name", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_a_library_that_is_not_installed(result, name, method, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(PodiumError, match=f"pip install {name}"):
        getattr(result, method)()


def test_a_table_must_have_rows():
    class Without(Table):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Without()


def test_notebooks_show_text_and_not_markup():
    simulated = Simulation.from_objects([node("n1"), pod("web", cpu="99")])

    shown = simulated.schedule()._repr_html_()

    assert "<table>" in shown
    assert "0/1 nodes are available" in shown
    assert "&lt;" not in simulated._repr_html_()
