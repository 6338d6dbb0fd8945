"""Charts: the bars, the labels, and colours for light and dark."""

from xml.etree import ElementTree

import pytest

from podium.bench.compare import Comparison, Contestant
from podium.bench.plot import Chart, Panel, comparison_chart, draw
from podium.pictures import DARK, LIGHT
from tests.support.live_results import result

SVG = "{http://www.w3.org/2000/svg}"


def chart(*rows, digits=0):
    names = [f"case {number}" for number in range(len(rows))]
    return Chart("speed", "on one machine", ["podium", "other"], names, [Panel("s", rows, digits)])


def drawn(chart, theme=LIGHT):
    return ElementTree.fromstring(draw(chart, theme))


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def bars(root):
    """The widths of the bars; what is as high as the squares of the legend is none."""
    rectangles = (element.attrib for element in root.iter(f"{SVG}rect"))
    return [float(one["width"]) for one in rectangles if one["height"] == "18"]


def test_bars_are_in_proportion():
    first, second, third, fourth = bars(drawn(chart([400, 100], [200, 0])))

    assert first == pytest.approx(4 * second, abs=0.5)
    assert first == pytest.approx(2 * third, abs=0.5)
    assert fourth == 0


@pytest.mark.parametrize(
    ("row", "digits", "labels"),
    [
        pytest.param([1500, 500], 0, ["1,500 (3.0x)", "500"], id="ahead"),
        pytest.param([0.6, 2.5], 1, ["0.6 (0.24x)", "2.5"], id="less"),
        pytest.param([5, None], 0, ["5", "no figure"], id="other-failed"),
        pytest.param([None, 5], 0, ["no figure", "5"], id="podium-failed"),
        pytest.param([5, 0], 0, ["5", "0"], id="no-ratio-to-zero"),
    ],
)
def test_labels(row, digits, labels):
    assert texts(drawn(chart(row, digits=digits)))[-3:-1] == labels


def test_names_are_escaped():
    assert "a < b & c" in texts(drawn(Chart("a < b & c", "", ["x"], [], [Panel("s", [])])))


def test_a_theme_has_its_colours_and_no_background():
    light, dark = draw(chart([1, 2]), LIGHT), draw(chart([1, 2]), DARK)

    assert LIGHT.text in light
    assert LIGHT.text not in dark
    assert "@media" not in light + dark
    assert "class='background'" not in light + dark


def test_without_a_theme_the_viewer_chooses():
    both = draw(chart([1, 2]))

    assert "@media(prefers-color-scheme:dark)" in both
    assert "class='background'" in both


def test_a_comparison_has_two_panels():
    podium = Contestant(scheduler="podium", median=result(300, 1.5), runs=[])
    failed = Contestant(scheduler="other", median=None, runs=[], error="it died")
    comparison = Comparison(name="Case/Small", schedulers=[podium, failed])

    found = texts(drawn(comparison_chart([comparison], "title", "caption")))

    assert found == [
        *("title", "podium", "other", "Case/Small"),
        *("pods per second", "300", "no figure"),
        *("CPU seconds", "1.5", "no figure"),
        "caption",
    ]
