"""Templates in the notation of Go's text/template."""

import re

import pytest

from podium.bench.go_template import Deferred, render
from podium.errors import PodiumError


def rendered(text, index=0, /, **values):
    pieces = render(text, values)
    return "".join(piece.text(index) if isinstance(piece, Deferred) else piece for piece in pieces)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain: {a: 1}", "plain: {a: 1}", id="nothing-to-fill-in"),
        pytest.param("{{.Index}} {{ .Index }}", "25 25", id="index"),
        pytest.param("8{{ Mod .Index 12 }}", "81", id="part-of-a-number"),
        pytest.param("{{DivideInt .Index .size}}", "2", id="division-rounds-down"),
        pytest.param("{{DivideFloat .size 4}}", "2.5", id="fraction"),
        pytest.param("{{AddInt 7 (Mod .Index (DivideInt 40 .size))}}", "8", id="nested"),
        pytest.param("{{SubtractInt .size 3}}{{MultiplyInt 2 3}}", "76", id="more-arithmetic"),
        pytest.param("{{.text}}", "shop", id="string"),
        pytest.param('{{JSON .text}} {{Int "7"}}', '"shop" 7', id="conversion"),
        pytest.param("{{if .size}}a{{else}}b{{end}}", "a", id="condition-holds"),
        pytest.param("{{if .missing}}a{{else}}b{{end}}", "b", id="parameter-is-not-given"),
        pytest.param("{{if .empty}}a{{end}}b", "b", id="empty-is-false"),
        pytest.param('{{if eq .text "x"}}x{{else if .size}}y{{else}}z{{end}}', "y", id="else-if"),
        pytest.param("{{if .no}}{{if .size}}a{{else}}b{{end}}{{end}}c", "c", id="if-in-an-if"),
        pytest.param("{{$n := 3}}{{$n}}{{Mod .Index $n}}", "31", id="variable"),
        pytest.param("{{(or .missing .size) | Int}}", "10", id="pipeline"),
        pytest.param("{{.size | Mod .Index | AddInt 1}}", "6", id="long-pipeline"),
        pytest.param("{{(or .missing nil) | JSON}}", "null", id="nothing"),
        pytest.param("{{range 3}}{{.}},{{end}}", "0,1,2,", id="loop"),
        pytest.param("{{range 2}}{{range 2}}{{.}}{{end}};{{end}}", "01;01;", id="loop-in-a-loop"),
        pytest.param("{{range $i := 3}}{{if ge $i 1}}{{$i}}{{end}}{{end}}", "12", id="loop-name"),
        pytest.param("{{range 2}}{{.}}{{$.Index}} {{end}}", "025 125 ", id="index-in-a-loop"),
        pytest.param("{{range .list}}{{.name}}{{end}}", "ab", id="loop-over-a-list"),
        pytest.param('{{if and .size (ne .text "x")}}a{{end}}', "a", id="and"),
        pytest.param("a \n{{- 5 -}}\n b{{/* note */}}", "a5b", id="trimmed"),
    ],
)
def test_render(text, expected):
    values = {"size": 10, "text": "shop", "list": [{"name": "a"}, {"name": "b"}]}

    assert rendered(text, 25, empty="", no=False, **values) == expected


def test_only_what_depends_on_the_index_is_deferred():
    pieces = list(render("{{.size}}{{.Index}}", {"size": 3}))

    assert [type(piece) for piece in pieces if piece] == [str, Deferred]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("{{with .x}}{{end}}", "'with' is not known here", id="unknown-action"),
        pytest.param("{{range .text}}{{end}}", "cannot loop over 'shop'", id="loop-over-a-text"),
        pytest.param("{{range .Index}}{{end}}", "cannot depend on .Index", id="deferred-loop"),
        pytest.param("{{$x := .Index}}", "cannot depend on .Index", id="deferred-variable"),
        pytest.param("{{$x}}", "'$x' is not known here", id="unknown-variable"),
        pytest.param("{{range 2}}a{{else}}b{{end}}", "{{else}} of a {{range}}", id="loop-else"),
        pytest.param("{{range 2}}", "without an {{end}}", id="open-loop"),
        pytest.param("{{1 | }}", "is not an expression", id="open-pipeline"),
        pytest.param("{{.missing}}", "needs a template parameter", id="parameter-is-not-given"),
        pytest.param("{{if .size}}", "without an {{end}}", id="open-condition"),
        pytest.param("{{if .Index}}a{{end}}", "cannot depend on .Index", id="deferred-condition"),
        pytest.param("{{DivideInt 1 0}}", "division by zero", id="division-by-zero"),
        pytest.param("{{Mod 1 0}}", "division by zero", id="remainder-by-zero"),
        pytest.param("{{AddInt .text 1}}", "'shop' is not a number", id="text-as-number"),
        pytest.param("{{Mod 1}}", "cannot be called", id="argument-missing"),
        pytest.param("{{.size 1}}", "cannot be called", id="not-a-function"),
        pytest.param("{{}}", "is not an expression", id="empty"),
    ],
)
def test_what_cannot_be_rendered(text, reason):
    with pytest.raises(PodiumError, match=re.escape(reason)):
        rendered(text, size=3, text="shop")
