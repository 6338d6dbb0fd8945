"""Loads plugins from outside: `--plugin FILE`, `--plugin MODULE[:NAME]`, installed packages.

Commands and programs call it before they read a configuration. A package is imported only when a
configuration names one of its plugins.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from podium.app.own_plugins import in_tree_with_legacy
from podium.errors import PluginError
from podium.framework.decorators import PLUGIN
from podium.framework.definitions import made_by
from podium.framework.plugin import Plugin
from podium.framework.registry import Registry
from podium.framework.status import text_of
from podium.logs import get_logger

log = get_logger(__name__)

GROUP: Final = "podium.plugins"
PROGRAM: Final = "this program"
OPTION: Final = "--plugin"


class Source(NamedTuple):
    """The value of ``--plugin``: a file or a module, and perhaps a name in it."""

    text: str
    place: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Source:
        place, colon, name = text.rpartition(":")
        return cls(text, place, name) if colon and place else cls(text, text, "")

    @property
    def file(self) -> Path | None:
        is_file = self.place.endswith(".py") or os.sep in self.place
        return Path(self.place) if is_file else None


def registry(
    sources: Sequence[str] = (), plugins: Iterable[object] = (), own: Registry | None = None
) -> Registry:
    """Return all plugins that a configuration may name: podium's, installed ones, and these.

    The plugins given here also run in every profile that does not name them. ``own`` replaces
    podium's plugins, where feature gates chose others.
    """
    found = in_tree_with_legacy() if own is None else own.copy()
    for plugin in plugins:
        found.register(plugin, origin=PROGRAM, enable=True)
    for text in sources:
        add(text, found)
    for point in entry_points(group=GROUP):
        _offer(point, found)
    return found


def add(text: str, to: Registry) -> None:
    """Load the plugins that ``--plugin`` names, and register them."""
    for plugin in load(text):
        to.register(plugin, origin=f"{OPTION} {text}", enable=True)


def load(text: str) -> list[object]:
    """Return the plugin classes, factories and functions of a file or module; at least one."""
    source = Source.parse(text)
    module = _module(source)
    if not source.name:
        found = plugins_in(module)
        if not found:
            raise PluginError(
                f"{OPTION} {text}: it has no plugin: write a class that inherits "
                "from fwk.FilterPlugin or another extension point, or decorate a function"
            )
        return found
    try:
        return [getattr(module, source.name)]
    except AttributeError:
        names = [getattr(each, "__name__", "") for each in plugins_in(module)]
        there = f"it has: {', '.join(names)}" if names else "it has no plugin"
        text = f"{OPTION} {text}: {source.name} does not exist in it; {there}"
        raise PluginError(text) from None


def plugins_in(module: ModuleType) -> list[object]:
    """Return what the module itself defines, in its order.

    That is: decorated functions, classes that are not bases of others, and factories, each instead
    of the class that it builds.
    """
    own = [
        each
        for name, each in vars(module).items()
        if not name.startswith("_") and getattr(each, "__module__", None) == module.__name__
    ]
    classes = [each for each in own if isinstance(each, type) and issubclass(each, Plugin)]
    factories = {kind: each for each in own if (kind := made_by(each)) is not None}
    bases = {base for each in classes for base in each.__mro__[1:]}
    found: list[object] = []
    for each in own:
        if each in classes:
            if each not in factories and not (each in bases and not each.name):
                found.append(each)
        elif hasattr(each, PLUGIN) or each in factories.values():
            found.append(each)
    return found


# --- modules -------------------------------------------------------------------------------------


def _module(source: Source) -> ModuleType:
    try:
        if source.file is not None:
            return _import_file(source.file)
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # as `python -m` does
        return importlib.import_module(source.place)
    except (Exception, SystemExit) as fault:
        why = _why(source, fault)
        raise PluginError(f"{OPTION} {source.text}: {why}") from fault


def _import_file(path: Path) -> ModuleType:
    # Compiled here: the import cache would miss a file that is saved twice within a second.
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    module = ModuleType(f"podium_plugin_{path.stem}")
    module.__file__ = str(path)
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # dataclasses and annotations look there
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(module.__name__)
        if before is not None:
            sys.modules[module.__name__] = before
        raise
    return module


def _why(source: Source, fault: BaseException) -> str:
    if isinstance(fault, OSError) and source.file is not None and fault.filename:
        return f"cannot be read: {fault.strerror}"
    if isinstance(fault, ModuleNotFoundError) and fault.name in source.place.split("."):
        return f"no module named {fault.name}; for a file write its path, such as ./{fault.name}.py"
    if isinstance(fault, SyntaxError):
        return f"line {fault.lineno}: {fault.msg}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(fault.__traceback__)
        if source.file is not None and frame.filename == str(source.file)
    ]
    at = f"line {lines[-1]}: " if lines else ""
    return f"{at}{type(fault).__name__}: {text_of(fault)}"


def _offer(point: EntryPoint, to: Registry) -> None:
    package = point.dist.name if point.dist is not None else "an installed package"
    origin = f"{package} ({point.value})"
    if point.name in to:
        log.warning(
            f"plugin {point.name} of {origin} is not used: the name is taken by one loaded before"
        )
        return

    def load_it() -> object:
        try:
            return point.load()
        except Exception as fault:
            why = f"{type(fault).__name__}: {text_of(fault)}"
            raise PluginError(f"{origin} cannot be loaded: {why}") from fault

    to.offer(point.name, load_it, origin)
