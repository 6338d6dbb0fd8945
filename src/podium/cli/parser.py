"""The parser of every command: what it does not know, it compares with what it does.

Flags may be written with underscores, as those of Kubernetes' programs may.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from podium.cli.complaint import BAD_INPUT
from podium.config.problems import did_you_mean

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class HelpFormatter(argparse.HelpFormatter):
    """Breaks descriptions into lines as usual; examples have lines of their own, and keep them."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **options})

    def parse_known_args(  # type: ignore[override]  # the overloads of typeshed, in one
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        words = sys.argv[1:] if args is None else args
        if not words and self._subparsers is not None:
            self._show_commands()
        spelled = [self._spelled(word) for word in words]
        found, unknown = super().parse_known_args(spelled, namespace)
        if unknown:
            self._refuse(unknown)
        return found, unknown

    def _show_commands(self) -> NoReturn:
        """No word at all where a command is wanted: somebody wants to know what there is."""
        self.print_help(sys.stderr)
        self.exit(BAD_INPUT)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """A word that is none of the commands: told as it was typed, with the nearest one."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            hint = did_you_mean(value, action.choices) or f"; one of: {', '.join(action.choices)}"
            self.error(f'unknown command "{value}"{hint}')
        super()._check_value(action, value)

    def _spelled(self, word: str) -> str:
        name, equals, value = word.partition("=")
        hyphened = name.replace("_", "-")
        known = name not in self._option_string_actions and hyphened in self._option_string_actions
        return f"{hyphened}{equals}{value}" if known else word

    def _refuse(self, unknown: list[str]) -> NoReturn:
        flags = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        if not flags:
            self.error(f'"{self.prog}" does not take any arguments, got {json.dumps(unknown)}')
        self.error(f"unknown flag: {flags[0]}{did_you_mean(flags[0], self._shown())}")

    def _shown(self) -> list[str]:
        options = self._option_string_actions.items()
        return [name for name, action in options if action.help != argparse.SUPPRESS]
