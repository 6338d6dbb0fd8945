"""A file of plugins is saved with a mistake in it, and then without."""

from pathlib import Path

import pytest

from podium.app.embedded import reporter
from podium.app.file_watching import FileWatch
from tests.plugins_out_of_tree.test_watch import FILE, FILTER, LOADED, SCORE, play, save, saved
from tests.support.scenarios import node, pod

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("write")]

ODD_WATCHES = """
from podium import framework as fwk

class Odd(fwk.FilterPlugin):
    name = "Odd"
    watches = fwk.StorageClass

    def filter(self, state, pod, node):
        return None
"""


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(SCORE.format("b").replace("weight=1000", "weight='2'"), id="weight"),
        pytest.param(FILTER.format(True).replace(".filter", ".filter(name=3)"), id="name"),
        pytest.param(ODD_WATCHES, id="watches"),
        pytest.param(ODD_WATCHES.replace("watches =", "watches = 1; depends_on ="), id="depends"),
    ],
)
def test_after_a_save_with_a_mistake_the_old_code_goes_on_and_the_next_save_is_loaded(bad):
    async def scene(cluster):
        await cluster.create(node("a"), node("b"), node("c"))
        await saved(cluster, bad)
        await cluster.create(pod("first"))
        await cluster.settle()
        await saved(cluster, SCORE.format("c"))
        await cluster.create(pod("second"))
        await cluster.settle()

        assert cluster.said[0].endswith("\nThe old code goes on.")
        assert cluster.said[1:] == LOADED
        assert (cluster.node_of("first"), cluster.node_of("second")) == ("a", "c")

    play(scene, SCORE.format("a"))


@pytest.mark.parametrize("fault", [TypeError("odd"), SystemExit("odd")])
def test_whatever_a_reload_raises_the_next_save_is_loaded(fault, caplog):
    save("")
    said, faults = [], [fault]

    def reload():
        if faults:
            raise faults.pop()

    watch = FileWatch([Path(FILE)], reload, reporter(said.append))
    for _ in range(2):
        save("")
        watch.look()
        watch.look()  # the file is complete

    problem = f"rack.py: cannot be loaded: {type(fault).__name__}: odd\nThe old code goes on."
    assert said == [problem, *LOADED]
    assert "files were not reloaded" in caplog.text
