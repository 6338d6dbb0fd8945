"""The argument parser of every command.

Unknown commands and flags are answered with the nearest known one. Flags may be written with
underscores, as in Kubernetes' own programs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

from podium import durations

BAD_INPUT = 2  # the exit status that argparse uses

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class HelpFormatter(argparse.HelpFormatter):
    """Wraps descriptions as usual, and keeps the line breaks of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


class StoreOnce(argparse.Action):
    """Stores a value, and refuses an option that is given a second time.

    Options of `podium scheduler` use argparse's own `store` instead: there the last value counts,
    as in kube-scheduler.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if self.option_strings and self.dest in given:
            raise argparse.ArgumentError(self, "may be given only once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        # Abbreviated flags would be taken for others: --name for --namespace.
        usual = {"formatter_class": HelpFormatter, "allow_abbrev": False}
        super().__init__(**{**usual, **options})
        self.register("action", None, StoreOnce)
        self.register("type", Path, _named_path)
        self.alternatives: dict[str, Alternative] = {}

    def add_alternative(self, name: str, *, summary: str, **options: Any) -> Parser:
        """Add a command that the first word selects, beside the arguments of this parser.

        argparse's subparsers cannot: they take every first word for a command.
        """
        parser = Parser(prog=f"{self.prog} {name}", **options)
        parser.set_defaults(action=name)
        self.alternatives[name] = Alternative(parser, summary)
        self.set_defaults(action="")
        return parser

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads; this is all of them
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        words = sys.argv[1:] if args is None else args
        if words and (other := self.alternatives.get(words[0])) is not None:
            return other.parser.parse_known_args(words[1:], namespace)
        if not words and self._subparsers is not None:
            self.print_help(sys.stderr)
            self.exit(BAD_INPUT)
        hyphenated = [self._with_hyphens(word) for word in words]
        found, unknown = super().parse_known_args(hyphenated, namespace)
        if unknown:
            self._refuse(unknown)
        return found, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help, a version or an error; argparse would ignore that this fails."""
        (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Answer an unknown command with the nearest one, or with all of them."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            hint = _did_you_mean(value, action.choices) or f"; one of: {', '.join(action.choices)}"
            self.error(f'unknown command "{value}"{hint}')
        super()._check_value(action, value)

    def _with_hyphens(self, word: str) -> str:
        name, equals, value = word.partition("=")
        hyphenated = name.replace("_", "-")
        options = self._option_string_actions
        is_flag = name not in options and hyphenated in options
        return f"{hyphenated}{equals}{value}" if is_flag else word

    def _refuse(self, unknown: list[str]) -> NoReturn:
        flags = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        if not flags:
            self.error(f'"{self.prog}" does not take any arguments, got {json.dumps(unknown)}')
        options = self._option_string_actions.items()
        shown = [name for name, action in options if action.help != argparse.SUPPRESS]
        self.error(f"unknown flag: {flags[0]}{_did_you_mean(flags[0], shown)}")


class Alternative(NamedTuple):
    """Another parser that the first word selects, and what it is for."""

    parser: Parser
    summary: str


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    # Loaded only for a mistyped word: it brings all of podium.config along.
    from podium.config.problems import did_you_mean

    return did_you_mean(name, known)


def _named_path(text: str) -> Path:
    """Read the value of every argument with ``type=Path``: an empty one is a mistake in a script.

    ``Path("")`` would be the directory that the command runs in.
    """
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return Path(text)


def non_empty(text: str) -> str:
    """Read the value of an argument that must not be empty, as ``"$NAME"`` is if unset."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def duration(text: str) -> float:
    """Read the value of an argument such as ``90s`` or ``1h30m``, in seconds."""
    try:
        return durations.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number_between(least: int, most: int, text: str) -> int:
    """Read an option's value as a whole number in a range."""
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"must be a number from {least} to {most}, not {text!r}")
    return int(text)
