"""Profiles put together: merged, expanded, with their arguments, and compared with one another."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from podium.config import expand, upstream, wire
from podium.config.catalog import Catalog
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
from podium.config.version import Defaults
from podium.framework.args import Args
from podium.framework.plugin import Point

_FIT = "NodeResourcesFit"


@dataclass(frozen=True, slots=True)
class Draft:
    """A profile as the file has it, with what the merge made of it."""

    path: str
    given: wire.Profile
    sets: PluginSets

    @property
    def name(self) -> str:
        return self.given.scheduler_name or ""


def build_profiles(
    given: tuple[wire.Profile, ...], defaults: Defaults, catalog: Catalog, problems: Problems
) -> tuple[Profile, ...]:
    drafts = [
        _draft(profile, f"profiles[{index}]", defaults, catalog)
        for index, profile in enumerate(given)
    ]
    for draft in drafts:
        _check_rejected_names(draft, catalog, problems)
    _check_one_queue_sort(drafts[0], problems)
    built = tuple(_build(draft, catalog, problems) for draft in drafts)
    first = drafts[0], built[0]
    for other in zip(drafts[1:], built[1:], strict=True):
        _check_same_queue_sort(first, other, problems)
    return built


def _draft(given: wire.Profile, path: str, defaults: Defaults, catalog: Catalog) -> Draft:
    where = f"{path}.plugins"
    sets = merged_plugins(given.plugins, where, catalog.version, defaults)
    return Draft(path, given, with_command_line(sets, given.plugins, catalog.registry))


def _check_rejected_names(draft: Draft, catalog: Catalog, problems: Problems) -> None:
    for key, plugin_set in draft.sets.items():
        if key == upstream.MULTI_POINT or key in upstream.PLACEMENT_KEYS:
            continue
        for entry in plugin_set.enabled:
            rejection = catalog.version.rejection(entry.name)
            if rejection:
                problems.invalid(entry.path, entry.name, rejection)


def _build(draft: Draft, catalog: Catalog, problems: Problems) -> Profile:
    order = expand.Expansion(draft.sets, catalog, problems).order()
    expand.check_order(order, draft.name, f"{draft.path}.plugins", problems)
    with_absent = {point: order[point.value] for point in Point}
    return Profile(
        scheduler_name=draft.name,
        percentage_of_nodes_to_score=draft.given.percentage_of_nodes_to_score,
        plugins={
            point: tuple(name for name in names if catalog.has(name))
            for point, names in with_absent.items()
        },
        weights=_weights(draft, order, catalog, problems),
        args=_args(draft, catalog, problems),
        absent=_absent(draft, with_absent, catalog),
        order_with_absent=with_absent,
        origins=_origins(draft, with_absent, problems),
    )


def _origins(
    draft: Draft, order: Mapping[Point, tuple[str, ...]], problems: Problems
) -> dict[Point, tuple[str, ...]]:
    """What put each plugin where it runs: the key that lists it, or nobody but the defaults."""
    return {
        point: tuple(_origin(draft.sets, point.value, name, problems) for name in names)
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


def _weights(
    draft: Draft, order: expand.Order, catalog: Catalog, problems: Problems
) -> dict[str, int]:
    for key, prefix in (("score", "score"), ("placementScore", "placement score")):
        if expand.could_overflow(expand.weights(draft.sets, key, catalog)):
            message = f"{prefix} plugins: total score of Score plugins could overflow"
            problems.add(f"{draft.path}.plugins.{key}", message)
    weights = expand.weights(draft.sets, "score", catalog)
    return {name: weights[name] for name in order["score"]}


def _args(draft: Draft, catalog: Catalog, problems: Problems) -> dict[str, Args]:
    """Arguments for every enabled plugin that podium has, in alphabetical order as upstream."""
    path = f"{draft.path}.pluginConfig"
    entries = draft.given.plugin_config
    given = decode_plugin_config(entries, path, catalog, problems)
    enabled = [name for name in sorted(enabled_names(draft.sets)) if catalog.has(name)]
    configured = {entry.name for entry in entries}
    missing = [name for name in enabled if name not in configured]
    args = given | default_args(missing, path, catalog, problems)
    return {name: args[name] for name in enabled if name in args}


def _absent(
    draft: Draft, order: Mapping[Point, tuple[str, ...]], catalog: Catalog
) -> dict[str, frozenset[Point]]:
    return {
        name: frozenset(point for point, names in order.items() if name in names)
        for name in enabled_names(draft.sets)
        if catalog.is_absent(name)
    }


def _check_one_queue_sort(first: Draft, problems: Problems) -> None:
    count = len(first.sets["queueSort"].enabled)
    if count > 1:
        path = f"{first.path}.plugins.queueSort.Enabled"
        problems.invalid(path, count, "only one queue sort plugin can be enabled")


def _check_same_queue_sort(
    first: tuple[Draft, Profile], other: tuple[Draft, Profile], problems: Problems
) -> None:
    """All profiles share one queue, so they must sort it alike."""
    (first_draft, first_profile), (draft, profile) = first, other
    if any(problems.below(f"{each.path}.plugins.queueSort") for each in (first_draft, draft)):
        return
    ours, expected = (each.sets["queueSort"] for each in (draft, first_draft))
    sorters, wanted = (
        each.order_with_absent[Point.QUEUE_SORT] for each in (profile, first_profile)
    )
    if _comparable(ours) != _comparable(expected):
        path = f"{draft.path}.plugins.queueSort"
        problems.add(path, f"Invalid value: {_written(ours)}: must be the same for all profiles")
    elif len(sorters) == len(wanted) == 1 and sorters != wanted:
        names = f'"{draft.name}": "{sorters[0]}", first: "{wanted[0]}"'
        problems.add(f"{draft.path}.plugins", f"different queue sort plugins for profile {names}")
    elif sorters and _raw_args(draft, sorters[0]) != _raw_args(first_draft, sorters[0]):
        _report_other_args(draft, sorters[0], problems)


def _report_other_args(draft: Draft, name: str, problems: Problems) -> None:
    """Upstream finds it early where the profile lists the plugin, else when building it."""
    same = "must be the same for all profiles"
    if name in draft.sets["queueSort"].names:
        path = f"{draft.path}.pluginConfig.args"
        problems.invalid(path, _raw_args(draft, name), f"queueSort {same}")
    else:
        message = f'different queue sort plugin args for profile "{draft.name}"; they {same}'
        problems.add(f"{draft.path}.pluginConfig", message)


def _comparable(plugin_set: PluginSet) -> object:
    return [(entry.name, entry.weight) for entry in plugin_set.enabled], plugin_set.disabled


def _written(plugin_set: PluginSet) -> str:
    enabled = [{"Name": entry.name, "Weight": entry.weight} for entry in plugin_set.enabled]
    disabled = [{"Name": name, "Weight": 0} for name in plugin_set.disabled]
    return show({"Enabled": enabled or None, "Disabled": disabled or None})


def _raw_args(draft: Draft, name: str) -> object:
    return next((entry.args for entry in draft.given.plugin_config if entry.name == name), None)


def ignore_managed_resources(
    profiles: tuple[Profile, ...],
    given: tuple[wire.Profile, ...],
    extenders: tuple[Extender, ...],
    problems: Problems,
) -> tuple[Profile, ...]:
    """Profiles whose NodeResourcesFit leaves alone what extenders manage on their own."""
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


def unknown_names(given: tuple[wire.Profile, ...], catalog: Catalog, found: Problems) -> None:
    """Names that upstream passes over in silence: they configure or disable nothing."""
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
                found.add(where, f"no plugin {show(name)}; this has no effect{hint}")
