"""Build profiles: merge and expand their plugins, decode arguments, check them together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from podium.config import expand, upstream, wire
from podium.config.merge import (
    ALL,
    COMMAND_LINE,
    PluginSet,
    PluginSets,
    enabled_names,
    merged_plugins,
    wire_sets,
    with_command_line,
)
from podium.config.model import DEFAULT_ORIGIN, Extender, Profile
from podium.config.plugin_args import (
    decode_plugin_config,
    default_args,
    with_ignored_resources,
)
from podium.config.problems import Problems, show
from podium.config.version import Catalog, Defaults
from podium.framework.args import Args
from podium.framework.points import Point
from podium.release import Release

_FIT = "NodeResourcesFit"


@dataclass(frozen=True, slots=True)
class MergedProfile:
    """A profile as the file has it, with its plugin sets after the merge."""

    path: str
    given: wire.Profile
    sets: PluginSets

    @property
    def name(self) -> str:
        return self.given.scheduler_name or ""


def build_profiles(
    given: tuple[wire.Profile, ...], defaults: Defaults, catalog: Catalog, problems: Problems
) -> tuple[Profile, ...]:
    all_merged = [
        _merge(profile, f"profiles[{index}]", defaults, catalog)
        for index, profile in enumerate(given)
    ]
    for merged in all_merged:
        _check_rejected_names(merged, catalog, problems)
    _check_one_queue_sort(all_merged[0], problems)
    built = tuple(_build(merged, catalog, problems) for merged in all_merged)
    first = all_merged[0], built[0]
    for other in zip(all_merged[1:], built[1:], strict=True):
        _check_same_queue_sort(first, other, problems)
    return built


def _merge(given: wire.Profile, path: str, defaults: Defaults, catalog: Catalog) -> MergedProfile:
    where = f"{path}.plugins"
    sets = merged_plugins(given.plugins, where, catalog.version, defaults)
    return MergedProfile(path, given, with_command_line(sets, given.plugins, catalog.registry))


def _check_rejected_names(merged: MergedProfile, catalog: Catalog, problems: Problems) -> None:
    for key, plugin_set in merged.sets.items():
        if key == upstream.MULTI_POINT or key in upstream.PLACEMENT_KEYS:
            continue
        for entry in plugin_set.enabled:
            rejection = catalog.version.rejection(entry.name)
            if rejection:
                problems.invalid(entry.path, entry.name, rejection)


def _build(merged: MergedProfile, catalog: Catalog, problems: Problems) -> Profile:
    order = expand.Expansion(merged.sets, catalog, problems).order()
    expand.check_order(order, merged.name, f"{merged.path}.plugins", problems)
    _check_weights(merged, catalog, problems)
    with_absent = {point: order[point.value] for point in Point}
    return Profile(
        scheduler_name=merged.name,
        percentage_of_nodes_to_score=merged.given.percentage_of_nodes_to_score,
        plugins={
            point: tuple(name for name in names if catalog.has(name))
            for point, names in with_absent.items()
        },
        weights=_weights(merged, order, catalog, Point.SCORE),
        placement_weights=_weights(merged, order, catalog, Point.PLACEMENT_SCORE),
        args=_args(merged, catalog, problems),
        absent=_absent(merged, with_absent, catalog),
        order_with_absent=with_absent,
        origins=_origins(merged, with_absent, problems),
    )


def _origins(
    merged: MergedProfile, order: Mapping[Point, tuple[str, ...]], problems: Problems
) -> dict[Point, tuple[str, ...]]:
    """Return, by extension point, the key that lists each plugin, or that it is a default."""
    return {
        point: tuple(_origin(merged.sets, point.value, name, problems) for name in names)
        for point, names in order.items()
    }


def _origin(sets: PluginSets, key: str, name: str, problems: Problems) -> str:
    entries = sets[key].enabled + sets[upstream.MULTI_POINT].enabled
    entry = next(each for each in entries if each.name == name)
    if entry.path == COMMAND_LINE:
        return COMMAND_LINE
    written = problems.written(entry.path).removesuffix("]").rpartition("[")[0]
    listed_at = written.removesuffix(".enabled").rpartition(".")[2]
    return listed_at if entry.is_listed and listed_at else DEFAULT_ORIGIN


def _check_weights(merged: MergedProfile, catalog: Catalog, problems: Problems) -> None:
    for key, prefix in (("score", "score"), ("placementScore", "placement score")):
        if expand.could_overflow(expand.weights(merged.sets, key, catalog)):
            message = f"{prefix} plugins: total score of Score plugins could overflow"
            problems.add(f"{merged.path}.plugins.{key}", message)


def _weights(
    merged: MergedProfile, order: expand.Order, catalog: Catalog, point: Point
) -> dict[str, int]:
    weights = expand.weights(merged.sets, point.value, catalog)
    return {name: weights[name] for name in order[point.value]}


def _args(merged: MergedProfile, catalog: Catalog, problems: Problems) -> dict[str, Args]:
    """Return the arguments of every enabled plugin, in alphabetical order as upstream."""
    path = f"{merged.path}.pluginConfig"
    entries = merged.given.plugin_config
    given = decode_plugin_config(entries, path, catalog, problems)
    enabled = [name for name in sorted(enabled_names(merged.sets)) if catalog.has(name)]
    configured = {entry.name for entry in entries}
    missing = [name for name in enabled if name not in configured]
    args = given | default_args(missing, path, catalog, problems)
    return {name: args[name] for name in enabled if name in args}


def _absent(
    merged: MergedProfile, order: Mapping[Point, tuple[str, ...]], catalog: Catalog
) -> dict[str, frozenset[Point]]:
    return {
        name: frozenset(point for point, names in order.items() if name in names)
        for name in enabled_names(merged.sets)
        if catalog.is_absent(name)
    }


def _check_one_queue_sort(first: MergedProfile, problems: Problems) -> None:
    count = len(first.sets["queueSort"].enabled)
    if count > 1:
        path = f"{first.path}.plugins.queueSort.Enabled"
        problems.invalid(path, count, "only one queue sort plugin can be enabled")


def _check_same_queue_sort(
    first: tuple[MergedProfile, Profile], other: tuple[MergedProfile, Profile], problems: Problems
) -> None:
    """Report profiles that sort the queue differently: all of them share one queue."""
    (first_merged, first_profile), (merged, profile) = first, other
    if any(problems.below(f"{each.path}.plugins.queueSort") for each in (first_merged, merged)):
        return
    ours, expected = (each.sets["queueSort"] for each in (merged, first_merged))
    sorters, wanted = (
        each.order_with_absent[Point.QUEUE_SORT] for each in (profile, first_profile)
    )
    if _comparable(ours) != _comparable(expected):
        path = f"{merged.path}.plugins.queueSort"
        problems.add(path, f"Invalid value: {_written(ours)}: must be the same for all profiles")
    elif len(sorters) == len(wanted) == 1 and sorters != wanted:
        names = f'"{merged.name}": "{sorters[0]}", first: "{wanted[0]}"'
        problems.add(f"{merged.path}.plugins", f"different queue sort plugins for profile {names}")
    elif sorters and _raw_args(merged, sorters[0]) != _raw_args(first_merged, sorters[0]):
        _report_other_args(merged, sorters[0], problems)


def _report_other_args(merged: MergedProfile, name: str, problems: Problems) -> None:
    """Report it in upstream's words, which depend on whether the profile lists the plugin."""
    same = "must be the same for all profiles"
    if name in merged.sets["queueSort"].names:
        path = f"{merged.path}.pluginConfig.args"
        problems.invalid(path, _raw_args(merged, name), f"queueSort {same}")
    else:
        message = f'different queue sort plugin args for profile "{merged.name}"; they {same}'
        problems.add(f"{merged.path}.pluginConfig", message)


def _comparable(plugin_set: PluginSet) -> object:
    return [(entry.name, entry.weight) for entry in plugin_set.enabled], plugin_set.disabled


def _written(plugin_set: PluginSet) -> str:
    enabled = [{"Name": entry.name, "Weight": entry.weight} for entry in plugin_set.enabled]
    disabled = [{"Name": name, "Weight": 0} for name in plugin_set.disabled]
    return show({"Enabled": enabled or None, "Disabled": disabled or None})


def _raw_args(merged: MergedProfile, name: str) -> object:
    return next((entry.args for entry in merged.given.plugin_config if entry.name == name), None)


def ignore_managed_resources(
    profiles: tuple[Profile, ...],
    given: tuple[wire.Profile, ...],
    extenders: tuple[Extender, ...],
    problems: Problems,
) -> tuple[Profile, ...]:
    """Make NodeResourcesFit ignore the resources that only extenders manage."""
    ignored = [
        resource.name
        for extender in extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    ]
    if not ignored:
        return profiles
    for index, (profile, written) in enumerate(zip(profiles, given, strict=True)):
        configured = {entry.name for entry in written.plugin_config}
        if _FIT not in configured.union(profile.args, profile.absent):
            message = "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"
            problems.add(f"profiles[{index}].pluginConfig", message)
    return tuple(_ignoring(profile, ignored) for profile in profiles)


def _ignoring(profile: Profile, ignored: list[str]) -> Profile:
    if _FIT not in profile.args:
        return profile
    fit = with_ignored_resources(profile.args[_FIT], ignored)
    return replace(profile, args={**profile.args, _FIT: fit})


def refuse_later_keys(
    given: tuple[wire.Profile, ...], release: Release, problems: Problems
) -> None:
    """Refuse extension points that the release does not have, as a strict decoder would.

    An empty one is refused too: every configuration that 1.37 writes has one. The decoder fills in
    the very objects of ``not_given`` for keys that a file does not have.
    """
    not_given = wire_sets(wire.Plugins())
    for index, profile in enumerate(given):
        for key in upstream.unknown_keys(release):
            if wire_sets(profile.plugins)[key] is not not_given[key]:
                where = f"profiles[{index}].plugins.{key}"
                problems.add(where, f'unknown field "{key}"; Kubernetes {release} does not have it')


def warn_of_unknown_names(
    given: tuple[wire.Profile, ...], catalog: Catalog, warnings: Problems
) -> None:
    """Warn of names that upstream ignores silently: they configure or disable nothing."""
    for index, profile in enumerate(given):
        path = f"profiles[{index}]"
        named = {
            f"{path}.pluginConfig[{position}].name": entry.name
            for position, entry in enumerate(profile.plugin_config)
        }
        for key, plugin_set in wire_sets(profile.plugins).items():
            for position, plugin in enumerate(plugin_set.disabled):
                named[f"{path}.plugins.{key}.disabled[{position}].name"] = plugin.name
        for where, name in named.items():
            if name not in catalog and name != ALL:
                hint = catalog.suggestion(name)
                warnings.add(where, f"no plugin {show(name)}; this has no effect{hint}")
