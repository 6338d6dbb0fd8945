"""Expand merged plugin sets into the plugins of each extension point, as upstream does."""

from collections.abc import Mapping

from podium.config import upstream
from podium.config.merge import ALL, Entry, PluginSets
from podium.config.problems import Problems
from podium.config.version import Catalog
from podium.framework.answers import MAX_SCORE

Order = dict[str, tuple[str, ...]]

MAX_TOTAL_SCORE = 2**63 - 1


class Expansion:
    """Expands the sets of one profile; reports what upstream would refuse to build."""

    def __init__(self, sets: PluginSets, catalog: Catalog, problems: Problems) -> None:
        self.sets = sets
        self.catalog = catalog
        self.problems = problems

    def order(self) -> Order:
        """Return the plugins at each extension point in running order, absent ones included."""
        self._check_multi_point()
        return {key: self._order_at(key) for key in upstream.INTERFACES}

    def _check_multi_point(self) -> None:
        first = next(iter(upstream.INTERFACES))
        for entry in self.sets[upstream.MULTI_POINT].enabled:
            if entry.name not in self.catalog:
                self._does_not_exist(entry, first)

    def _order_at(self, key: str) -> tuple[str, ...]:
        listed = self._listed(key)
        if ALL in self.sets[key].disabled:
            return tuple(listed)
        overrides, collected = self._from_multi_point(key)
        first = [name for name in listed if name in overrides]
        last = [name for name in listed if name not in overrides]
        return (*first, *collected, *last)

    def _listed(self, key: str) -> list[str]:
        """Return the plugins that the extension point itself lists."""
        names: list[str] = []
        for entry in self.sets[key].enabled:
            if entry.name not in self.catalog:
                if not self._is_rejected(entry.name, key):
                    self._does_not_exist(entry, key)
            elif not self.catalog.may_be_listed_at(entry.name, key):
                interface = upstream.INTERFACES[key]
                message = f'plugin "{entry.name}" does not extend {interface} plugin'
                self.problems.add(entry.path, f"{message}{self._what_it_extends(entry.name)}")
            elif entry.name in names:
                self._already_registered(entry, key)
            elif self.catalog.runs_at(entry.name, key):
                names.append(entry.name)
        return names

    def _from_multi_point(self, key: str) -> tuple[set[str], list[str]]:
        """Return the multiPoint plugins that the key lists as well, and those it does not list."""
        explicit = set(self.sets[key].names)
        disabled = set(self.sets[key].disabled)
        overrides: set[str] = set()
        collected: list[str] = []
        for entry in self.sets[upstream.MULTI_POINT].enabled:
            if entry.name in disabled or not self.catalog.runs_at(entry.name, key):
                continue
            if entry.name in explicit:
                overrides.add(entry.name)
            elif entry.name in collected:
                self._already_registered(entry, key)
            else:
                collected.append(entry.name)
        return overrides, collected

    def _is_rejected(self, name: str, key: str) -> bool:
        """Whether the version has already reported this plugin with its own message."""
        return name in self.catalog.version.rejected and key not in upstream.PLACEMENT_KEYS

    def _does_not_exist(self, entry: Entry, key: str) -> None:
        """Report an unknown plugin, unless its name could not be read in the first place."""
        if not self.problems.below(entry.path):
            message = f'{upstream.INTERFACES[key]} "{entry.name}" does not exist'
            advice = self.catalog.suggestion(entry.name) or "; --plugin FILE loads your own plugins"
            self.problems.add(entry.path, f"{message}{advice}")

    def _already_registered(self, entry: Entry, key: str) -> None:
        """Report a repeated entry once, however many extension points it reaches."""
        if not self.problems.below(entry.path):
            interface = upstream.INTERFACES[key]
            message = f'plugin "{entry.name}" already registered as "{interface}"'
            listed = [each for each in self.sets[key].enabled if each.name == entry.name]
            is_default = any(not each.is_listed for each in listed)
            advice = "it is enabled by default; disable it first" if is_default else "list it once"
            self.problems.add(entry.path, f"{message}; {advice}")

    def _what_it_extends(self, name: str) -> str:
        keys = [key for key in upstream.INTERFACES if self.catalog.runs_at(name, key)]
        return f"; it extends {', '.join(keys)}" if keys else ""


def check_order(order: Order, name: str, path: str, problems: Problems) -> None:
    """Check what upstream demands of a whole profile once its plugins are known."""
    profile = f'for profile with scheduler name "{name}"'
    sorters = len(order["queueSort"])
    rules = {
        "queueSort": (
            sorters == 1,
            f"only one queue sort plugin required {profile}, but got {sorters}",
        ),
        "bind": (bool(order["bind"]), f"at least one bind plugin is needed {profile}"),
        "placementGenerate": (
            len(order["placementGenerate"]) <= 1,
            f"at most one placement generate plugin is allowed {profile}",
        ),
    }
    for key, (is_kept, message) in rules.items():
        # Correcting a list that is wrong already may settle this as well, so it is not reported.
        sources = (f"{path}.{key}", f"{path}.{upstream.MULTI_POINT}")
        if not is_kept and not any(problems.below(source) for source in sources):
            problems.add(path, message)


def weights(sets: PluginSets, key: str, catalog: Catalog) -> dict[str, int]:
    """Return each scoring plugin's weight. The key's own list wins; no weight, or 0, means 1."""
    found: dict[str, int] = {}
    for entry in sets[key].enabled + sets[upstream.MULTI_POINT].enabled:
        if entry.name not in found and catalog.runs_at(entry.name, key):
            found[entry.name] = entry.weight or 1
    return found


def could_overflow(weights: Mapping[str, int]) -> bool:
    """Whether a node's total score could exceed 64 bits, added up in order as upstream does."""
    total = 0
    for weight in weights.values():
        if weight * MAX_SCORE > MAX_TOTAL_SCORE - total:
            return True
        total += weight * MAX_SCORE
    return False
