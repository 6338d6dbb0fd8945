"""The contexts that podium adds to a kubeconfig and removes again; all others stay as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from podium import files
from podium.api.manifests import read_text
from podium.cli.arguments.options import DEFAULT_NAME
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.apiserver.statuses import Json

CONTEXT = DEFAULT_NAME  # of the cluster without a --name
_LISTS = ("clusters", "users", "contexts")


class _Loader(yaml.SafeLoader):
    """Keeps texts that look like times or numbers, because the file is written back."""


_LEFT_ALONE = ("timestamp", "float", "int")
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.removeprefix("tag:yaml.org,2002:") not in _LEFT_ALONE
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", _DECIMAL, list("-0123456789"))


def default_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file that kubectl would write to."""
    listed = [Path(one) for one in environment.get("KUBECONFIG", "").split(os.pathsep) if one]
    if not listed:
        return Path.home() / ".kube" / "config"
    return next((one for one in listed if one.exists()), listed[-1])


def read(path: Path) -> Json:
    """Return the file's content, {} if it does not exist."""
    if not path.exists():
        return {}
    try:
        text = read_text(path)
    except PodiumError as error:
        hint = "give another file with --kubeconfig"
        raise PodiumError(f"{path}: {error}; {hint}") from error
    try:
        found = yaml.load(text, Loader=_Loader)  # a subclass of the safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        why = " ".join(str(error).split())
        hint = "correct it, or give another file with --kubeconfig"
        raise PodiumError(f"{path}: not readable as YAML: {why}; {hint}") from error
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(_is_list(found.get(name)) for name in _LISTS):
        hint = "give another file with --kubeconfig"
        raise PodiumError(f"{path}: is not a kubeconfig; {hint}")
    return found


def _is_list(value: Any) -> bool:
    items = value or []
    return isinstance(items, list) and all(isinstance(one, dict) for one in items)


def context_of(name: str) -> str:
    """Return the context of the cluster with this name: ``podium``, ``podium-test``."""
    return CONTEXT if name == DEFAULT_NAME else f"{CONTEXT}-{name}"


def with_context(config: Json, context: str, url: str) -> Json:
    """Return the kubeconfig with a context; it becomes the current one if there is none."""
    ours = {
        "clusters": {"name": context, "cluster": {"server": url}},
        "users": {"name": context, "user": {}},
        "contexts": {"name": context, "context": {"cluster": context, "user": context}},
    }
    found = {"apiVersion": "v1", "kind": "Config", "preferences": {}, **config}
    for name, entry in ours.items():
        found[name] = [*_others(config, name, context), entry]
    if not found.get("current-context"):
        found["current-context"] = context
    return found


def without_context(config: Json, context: str) -> Json:
    kept = {name: _others(config, name, context) for name in _LISTS if name in config}
    found = {**config, **kept}
    if found.get("current-context") == context:
        found["current-context"] = ""
    return found


def server_of(config: Json, context: str = CONTEXT) -> str:
    """Return the server of a context, "" if there is none."""
    return str(entry(config, "clusters", cluster_name(config, context)).get("server", ""))


def cluster_name(config: Json, context: str) -> str:
    return str(entry(config, "contexts", context).get("cluster", ""))


def entry(config: Json, group: str, name: str) -> Json:
    """Return one named entry of a list, such as a user; {} if it does not exist."""
    for one in config.get(group) or []:
        if one.get("name") == name:
            found = one.get(group.removesuffix("s"))
            return found if isinstance(found, dict) else {}
    return {}


def _others(config: Json, group: str, name: str) -> list[Json]:
    return [one for one in config.get(group) or [] if one.get("name") != name]


def write(path: Path, config: Json) -> None:
    """Replace the file in one step, so that no reader sees half of it."""
    try:
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(path) as file:
            file.write(yaml.safe_dump(config, sort_keys=False).encode())
    except (OSError, PodiumError) as error:
        why = error if isinstance(error, PodiumError) else f"cannot be written: {error}"
        raise PodiumError(f"{path}: {why}; give another file with --kubeconfig") from error


def add_context(path: Path, url: str, context: str = CONTEXT) -> None:
    write(path, with_context(read(path), context, url))


def remove_context(path: Path, url: str, context: str = CONTEXT) -> None:
    """Remove a context, unless it leads to another cluster by now."""
    config = read(path)
    if server_of(config, context) == url:
        write(path, without_context(config, context))
