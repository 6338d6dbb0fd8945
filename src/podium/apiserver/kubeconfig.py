"""The kubeconfig that clients read: our context goes in and out, every other one stays as it is."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from podium.api.manifests import read_text
from podium.apiserver.statuses import Json
from podium.errors import PodiumError

CONTEXT = "podium"
_LISTS = ("clusters", "users", "contexts")


class _Loader(yaml.SafeLoader):
    """Leaves texts alone that look like times or numbers: what is not ours is written back."""


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
    """The file that kubectl would write to."""
    listed = [Path(one) for one in environment.get("KUBECONFIG", "").split(os.pathsep) if one]
    if not listed:
        return Path.home() / ".kube" / "config"
    return next((one for one in listed if one.exists()), listed[-1])


def read(path: Path) -> Json:
    """The file's content, {} when there is none."""
    if not path.exists():
        return {}
    try:
        text = read_text(path)
    except PodiumError as error:
        hint = "give another file with --kubeconfig"
        raise PodiumError(f"{path}: {error}; {hint}") from error
    try:
        found = yaml.load(text, Loader=_Loader)  # a safe loader, with less in it
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        why = " ".join(str(error).split())
        hint = "mend it, or give another file with --kubeconfig"
        raise PodiumError(f"{path}: not readable as YAML: {why}; {hint}") from error
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(_is_list(found.get(name)) for name in _LISTS):
        hint = "give another file with --kubeconfig"
        raise PodiumError(f"{path}: is no kubeconfig; {hint}")
    return found


def _is_list(value: Any) -> bool:
    items = value or []
    return isinstance(items, list) and all(isinstance(one, dict) for one in items)


def with_context(config: Json, url: str) -> Json:
    """The same with our context; it becomes the current one only where none is."""
    ours = {
        "clusters": {"name": CONTEXT, "cluster": {"server": url}},
        "users": {"name": CONTEXT, "user": {}},
        "contexts": {"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}},
    }
    found = {"apiVersion": "v1", "kind": "Config", "preferences": {}, **config}
    for name, entry in ours.items():
        found[name] = [*_others(config, name), entry]
    if not found.get("current-context"):
        found["current-context"] = CONTEXT
    return found


def without_context(config: Json) -> Json:
    found = {**config, **{name: _others(config, name) for name in _LISTS if name in config}}
    if found.get("current-context") == CONTEXT:
        found["current-context"] = ""
    return found


def server_of(config: Json, context: str = CONTEXT) -> str:
    """The address that a context leads to; "" without one."""
    return str(entry(config, "clusters", cluster_name(config, context)).get("server", ""))


def cluster_name(config: Json, context: str) -> str:
    return str(entry(config, "contexts", context).get("cluster", ""))


def entry(config: Json, group: str, name: str) -> Json:
    """One named entry of a list, such as a user; {} when it is not there."""
    for one in config.get(group) or []:
        if one.get("name") == name:
            found = one.get(group.removesuffix("s"))
            return found if isinstance(found, dict) else {}
    return {}


def _others(config: Json, name: str) -> list[Json]:
    return [one for one in config.get(name) or [] if one.get("name") != CONTEXT]


def write(path: Path, config: Json) -> None:
    """Replace the file in one step; whoever reads it meanwhile gets the old or the new one."""
    target = path.resolve()  # a link stays a link
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w") as file:  # mkstemp makes it readable for its owner only
            yaml.safe_dump(config, file, sort_keys=False)
        os.replace(name, target)
    except OSError as error:
        hint = "give another file with --kubeconfig"
        raise PodiumError(f"{path}: cannot be written: {error}; {hint}") from error


def add_context(path: Path, url: str) -> None:
    write(path, with_context(read(path), url))


def remove_context(path: Path, url: str) -> None:
    """Take our context out, unless it leads to another cluster by now."""
    config = read(path)
    if server_of(config) == url:
        write(path, without_context(config))
