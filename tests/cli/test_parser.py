"""Commands that are mistyped."""

import argparse
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

from podium import __main__
from podium.cli import COMMANDS, build_parser, main

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("shedule",), 'podium: error: unknown command "shedule"; did you mean "scheduler"?\n'),
        (("Up",), 'podium: error: unknown command "Up"; did you mean "up"?\n'),
        (
            ("config", "xyz"),
            'podium config: error: unknown command "xyz"; one of: validate, show, convert, diff\n',
        ),
        (
            ("plugin", "lst"),
            'podium plugin: error: unknown command "lst"; did you mean "list"?\n',
        ),
        (
            ("config", "show", "--ouput", "json"),
            'podium config show: error: unknown flag: --ouput; did you mean "--output"?\n',
        ),
        (
            ("config", "show", "-o", "jsn"),
            "invalid choice: 'jsn' (choose from 'text', 'json', 'yaml')\n",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_is_not_known_is_told_with_what_is_near(capsys, words, told):
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(told)


@pytest.mark.parametrize("words", [(), ("config",), ("plugin",)], ids=" ".join)
def test_without_a_command_the_commands_are_shown(capsys, words):
    with pytest.raises(SystemExit) as asked:
        main([*words, "--help"])
    help_text = capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert (asked.value.code, ended.value.code) == (0, 2)
    assert capsys.readouterr().err == help_text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal_and_examples_keep_their_lines(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text, found, examples = capsys.readouterr().out.partition("\nexample")

    assert found
    assert max(map(len, text.splitlines())) <= 80
    assert "\n  podium " in examples


def test_an_interrupt_while_the_command_is_loaded(monkeypatch):
    class Loading(ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "podium.cli", Loading("podium.cli"))

    assert __main__.main() == 130


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("up", "--nodes", "3", "--nodes=5"), "argument --nodes: may be given only once\n"),
        (("get", "pods", "-o", "name", "--output=json"), "-o/--output: may be given only once\n"),
        (("bench", "f", "--runs", "1", "--runs", "1"), "--runs: may be given only once\n"),
        (("config", "show", "-o", "json", "-o", "json"), "-o/--output: may be given only once\n"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_an_option_with_one_value_is_given_once(capsys, words, told):
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(told)


def test_version(capsys):
    assert main(["version"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        f"podium      {version('podium')}",
        (
            "Kubernetes  1.37 (as 1.36: podium scheduler --emulated-version, "
            "other commands --kubernetes-version)"
        ),
        f"Python      {platform.python_version()}",
    ]


def options_of(command):
    subcommands = next(action for action in build_parser()._actions if action.dest == "command")
    return [
        name
        for name, action in subcommands.choices[command]._option_string_actions.items()
        if name.startswith("--") and action.help != argparse.SUPPRESS
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_pages_name_every_command(command):
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]

    assert any(f"podium {command}" in page.read_text() for page in pages)


@pytest.mark.parametrize("option", options_of("up"))
def test_the_page_of_the_embedded_cluster_has_every_option_of_up(option):
    page = (ROOT / "docs" / "embedded-cluster.md").read_text()

    assert option in ("--help", "--detach") or f"| `{option}" in page
