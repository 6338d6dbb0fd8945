"""``podium completion``: scripts that let a shell complete podium's commands.

The scripts are short. At each press of Tab they call ``podium completion --words …`` with the words
typed so far, and get the possible next words from the argument parser itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from podium.cli.arguments.parser import BAD_INPUT, Alternative, Parser
from podium.cli.messages import print_error

FILES: Final = ":files"  # tells the shell to complete file names

_SCRIPTS: Final = {
    "bash": """\
# Completion of podium for bash. Load it with: source <(podium completion bash)
_podium() {
    local words line
    COMPREPLY=()
    # Not COMP_WORDS: bash also splits those at = and at :.
    read -r -a words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ "${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
    while IFS= read -r line; do
        if [[ "$line" == ":files" ]]; then
            compopt -o default
        else
            [[ "${words[-1]}" == *=* ]] && line="${line#*=}"  # bash replaces only what follows =
            COMPREPLY+=("${line%%$'\\t'*}")
        fi
    done < <("${words[0]}" completion --words "${words[@]:1}" 2>/dev/null)
}
complete -F _podium podium
""",
    "zsh": """\
#compdef podium
# Completion of podium for zsh. Load it with: source <(podium completion zsh)
_podium() {
    local line
    local -a found
    while IFS= read -r line; do
        if [[ "$line" == ":files" ]]; then
            compset -P "*="
            _files
        else
            found+=("${line%%$'\\t'*}:${line#*$'\\t'}")
        fi
    done < <("${words[1]}" completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( ${#found} )) && _describe podium found
}
compdef _podium podium
""",
    "fish": """\
# Completion of podium for fish: put it into ~/.config/fish/completions/podium.fish
function __podium_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] completion --words $typed[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c podium -f -a '(__podium_complete)'
""",
}

# By the first word of an argument's metavar, where a few values are worth offering.
_KINDS: Final = (
    "all", "clusters", "configmaps", "daemonsets", "deployments", "events", "jobs", "leases",
    "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "poddisruptionbudgets",
    "pods", "priorityclasses", "replicasets", "services", "statefulsets", "storageclasses",
)  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from podium.cli import build_parser  # this module is loaded by it

    if args.words is not None:
        for suggestion in suggestions(build_parser(), args.words or [""]):
            print(suggestion)
        return 0
    if args.shell is None:
        print_error(f"name a shell: {', '.join(_SCRIPTS)}")
        return BAD_INPUT
    print(_SCRIPTS[args.shell], end="")
    return 0


class _Position(NamedTuple):
    """The meaning of the words before the current one."""

    parser: argparse.ArgumentParser
    waiting: argparse.Action | None  # an option whose value comes next
    arguments: int  # positional arguments so far, without subcommands


def suggestions(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Return what the last word may become: ``word<Tab>description``, or ``FILES``."""
    *before, current = words
    position = _position(parser, before)
    option, equals, _ = current.partition("=")
    actions = position.parser._option_string_actions
    if position.waiting is not None:
        found = list(_values(position.waiting))
    elif equals and option in actions:
        values = _values(actions[option])
        found = [each if each == FILES else f"{option}={each}" for each in values]
    elif current.startswith("-"):
        found = list(_options(position.parser))
    else:
        found = list(_arguments(position))
    return [each for each in found if each == FILES or each.startswith(current)]


def _position(parser: argparse.ArgumentParser, words: Sequence[str]) -> _Position:
    waiting, arguments = None, 0
    for word in words:
        if waiting is not None:
            waiting = None
        elif word.startswith("-"):
            action = parser._option_string_actions.get(word)
            takes_value = action is not None and action.nargs is None
            waiting = action if takes_value else None
        elif subparser := _subcommands(parser).get(word):
            parser, arguments = subparser, 0
        else:
            arguments += 1
    return _Position(parser, waiting, arguments)


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {name: other.parser for name, other in _alternatives(parser).items()}


def _alternatives(parser: argparse.ArgumentParser) -> Mapping[str, Alternative]:
    return parser.alternatives if isinstance(parser, Parser) else {}


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for name, action in parser._option_string_actions.items():
        if name.startswith("--") and action.help != argparse.SUPPRESS:
            yield f"{name}\t{_first_line(action.help)}"


def _arguments(position: _Position) -> Iterator[str]:
    """Yield subcommands, or values of the positional argument that comes next."""
    positional = [action for action in position.parser._actions if not action.option_strings]
    index = position.arguments
    if index == 0:
        for name, other in _alternatives(position.parser).items():
            yield f"{name}\t{other.summary}"
    for action in positional:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f"{choice.dest}\t{_first_line(choice.help)}"
            return
        if index == 0 or action.nargs in ("*", "+"):
            yield from _values(action)
            return
        index -= 1


def _values(action: argparse.Action) -> Iterator[str]:
    """Yield the values of an option or positional argument, as far as they are known."""
    metavar = str(action.metavar or "")
    if action.choices is not None:
        yield from (f"{choice}\t" for choice in action.choices)
    elif metavar.startswith("KIND"):
        yield from (f"{kind}\t" for kind in _KINDS)
    elif metavar.startswith(("FILE", "PATH")) or metavar in ("A", "B"):
        yield FILES


def _first_line(text: str | None) -> str:
    return (text or "").replace("%%", "%").split("\n")[0]
