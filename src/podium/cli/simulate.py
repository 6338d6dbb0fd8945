"""``podium simulate``: what would happen if pods, nodes or the configuration were others."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from podium.app import plugin_loading
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.explain_sources import find_target
from podium.cli.log_lines import write_warnings
from podium.cli.manifests import read_objects, read_pod
from podium.cli.messages import FAILED, print_error
from podium.cli.scenario_file import read_scenario
from podium.cli.simulate_text import print_comparison, print_report
from podium.errors import PodiumError
from podium.pictures import check_picture, write_picture
from podium.release import RELEASES
from podium.simulation.compare import Comparison, Variant, compare
from podium.simulation.formats import comparison_csv, comparison_json, report_csv, report_json
from podium.simulation.plot import draw_comparison, draw_report
from podium.simulation.report import Report
from podium.simulation.scenario import (
    Add,
    AddNodes,
    DrainNodes,
    Fit,
    RemoveNodes,
    Step,
)
from podium.simulation.scenario import (
    run as run_scenario,
)
from podium.simulation.simulation import Simulation
from podium.snapshot import Snapshot


def run(args: argparse.Namespace) -> int:
    write_warnings(logging.ERROR, repeats=False)
    try:
        if args.plot is not None:
            check_picture(args.plot)
        if args.action in ("compare", "upgrade"):
            return _compare(args)
        return _run_steps(args)
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT


# --- steps ---------------------------------------------------------------------------------------


def _run_steps(args: argparse.Namespace) -> int:
    steps = list(_STEPS[args.action](args))
    if not steps:
        raise PodiumError("nothing to do: give --add or --remove")
    simulation = _simulation(args)
    report = run_scenario(simulation, steps, args.topology)
    _print_report(report, args)
    return 0 if report.fits else FAILED


def _print_report(report: Report, args: argparse.Namespace) -> None:
    if args.plot is not None:
        write_picture(args.plot, draw_report(report))
    match args.output:
        case "json":
            print(report_json(report))
        case "csv":
            print(report_csv(report), end="")
        case _:
            print_report(report)


def _fit(args: argparse.Namespace) -> Iterator[Step]:
    yield Fit(read_pod(args.pod), args.pod)


def _drain(args: argparse.Namespace) -> Iterator[Step]:
    yield DrainNodes(tuple(args.nodes), args.ignore_budgets)


def _add(args: argparse.Namespace) -> Iterator[Step]:
    objects = [obj for _, obj in read_objects(args.filename)]
    yield Add(objects, args.replicas, ", ".join(args.filename))


def _nodes(args: argparse.Namespace) -> Iterator[Step]:
    yield from map(AddNodes.parse, args.add)
    yield from map(RemoveNodes, args.remove)


def _scenario(args: argparse.Namespace) -> Iterator[Step]:
    yield from read_scenario(args.scenario)


_STEPS: Final[dict[str, Callable[[argparse.Namespace], Iterator[Step]]]] = {
    "fit": _fit,
    "drain": _drain,
    "add": _add,
    "nodes": _nodes,
    "run": _scenario,
}


# --- comparisons ---------------------------------------------------------------------------------


def _compare(args: argparse.Namespace) -> int:
    if args.action == "upgrade":
        names = [str(release) for release in RELEASES[-2:]]
    else:
        names = args.variants
    plugins = tuple(each for text in args.plugin for each in plugin_loading.load(text))
    first, second = (_variant(name, plugins, args) for name in names)
    taken = find_target(args).load()
    if not taken.of_kind("Node"):
        raise _no_nodes(taken)
    comparison = compare(taken, (first, second), only_pending=args.pending, seed=args.seed)
    _print_comparison(comparison, args)
    return 0 if comparison.fits else FAILED


def _variant(name: str, plugins: tuple[object, ...], args: argparse.Namespace) -> Variant:
    variant = Variant.parse(name)
    configuration = variant.configuration or args.config
    return replace(variant, configuration=configuration, plugins=(*plugins, *variant.plugins))


def _print_comparison(comparison: Comparison, args: argparse.Namespace) -> None:
    if args.plot is not None:
        write_picture(args.plot, draw_comparison(comparison))
    match args.output:
        case "json":
            print(comparison_json(comparison))
        case "csv":
            print(comparison_csv(comparison), end="")
        case _:
            print_comparison(comparison)


# --- the cluster ---------------------------------------------------------------------------------


def _simulation(args: argparse.Namespace) -> Simulation:
    """Read the snapshot or the cluster, to which nothing is ever written."""
    target = find_target(args)
    taken = target.to_simulate()
    simulation = target.simulate(taken, release=args.kubernetes_version, seed=args.seed)
    if not simulation.nodes:
        raise _no_nodes(simulation.taken)
    simulation.notes = (*target.all_notes, *simulation.notes)
    return simulation


def _no_nodes(taken: Snapshot | None) -> PodiumError:
    where = (taken.source if taken is not None else "") or "the cluster"
    return PodiumError(
        f"{where} has no nodes, so no pod can be placed: add them to the dump, as "
        "kubectl get nodes,pods,services,pvc,pv,storageclasses,pdb -A -o json prints them"
    )
