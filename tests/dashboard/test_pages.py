"""The files of the page: small, complete, and with nothing that a policy would have to allow."""

import re
from html.parser import HTMLParser

import pytest

from podium.dashboard.site import pages

MOST_BYTES = 300_000
SCRIPTS = {name: body.decode() for name, body in pages().items() if name.endswith(".js")}


def test_all_files_together_are_small():
    assert 20_000 < sum(map(len, pages().values())) < MOST_BYTES


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_never_turn_text_into_markup_or_code(name):
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
    )

    assert re.findall(forbidden, SCRIPTS[name]) == []


@pytest.mark.parametrize("name", pages())
def test_no_file_names_another_server(name):
    found = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+[^\s\"')]*", pages()[name].decode())

    assert [each for each in found if each != "http://www.w3.org/2000/svg"] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_imported_module_is_there(name):
    for module in re.findall(r'from "\./([^"]+)"', SCRIPTS[name]):
        assert module in SCRIPTS


class Inline(HTMLParser):
    """Collects what a strict content security policy would block."""

    def __init__(self):
        super().__init__()
        self.found = []
        self._tag = ""

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        self._tag = tag
        if "style" in names or any(name.startswith("on") for name in names):
            self.found.append((tag, attrs))

    def handle_data(self, data):
        if self._tag in ("script", "style") and data.strip():
            self.found.append((self._tag, data))


@pytest.mark.parametrize(("name", "inline"), [("index.html", []), ("sign-in.html", ["style"])])
def test_pages_have_nothing_inline(name, inline):
    """But for the style of the page that is served alone; its policy has the hash of it."""
    parser = Inline()
    parser.feed(pages()[name].decode())

    assert [tag for tag, _ in parser.found] == inline


def test_the_sign_in_page_needs_no_other_file():
    """Without a session nothing else is answered."""
    text = pages()["sign-in.html"].decode()

    assert "<script" not in text
    assert "<link" not in text
    assert "<img" not in text
