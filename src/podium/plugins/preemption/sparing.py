"""Which pods can stay on their nodes: they are put back one per node at a time.

A pod stays if the incoming pod still fits with it. There are two forms of the same rule. If
resources alone decide, all nodes are compared as columns. Otherwise every filter is asked about
every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.profile import refusals
from podium.plugins.preemption.pool import Pool


@dataclass(frozen=True, slots=True)
class DryRunCluster:
    """The cluster of a dry run. Its overlay and cycle state always have the same pods."""

    handle: fwk.Handle
    pod: Pod
    state: fwk.CycleState
    overlay: fwk.Overlay


def spared_by_resources(room: fwk.Room, pool: Pool) -> NDArray[np.bool_]:
    """Return a mask of the pods that stay: what is free is compared with what is needed.

    Pods that stay are subtracted from ``room``.
    """
    stays = np.zeros(len(pool.rows), np.bool_)
    free, requested = room.free, pool.pods.requested(room.resources)
    for turn in pool.turns():
        rows = pool.rows.take(turn)
        left = free.take(rows, axis=1) - requested.take(turn, axis=1)
        fits = (left >= room.needed).all(axis=0)
        stays[turn] = fits
        free[:, rows[fits]] = left[:, fits]
    return stays


def spared_by_filters(trial: DryRunCluster, pool: Pool) -> NDArray[np.bool_]:
    """Return a mask of the pods that stay: the filters are asked about each step.

    The overlay and the cycle state of the trial follow each step.
    """
    infos = pool.pods.infos()
    amounts = trial.overlay.amounts_of(infos)
    stays = np.zeros(len(infos), np.bool_)
    for turn in pool.turns():
        put_back = [infos[position] for position in turn.tolist()]
        stays[turn] = _fit_with(trial, put_back, pool.rows[turn], amounts[:, turn])
    return stays


def _fit_with(
    trial: DryRunCluster,
    infos: list[fwk.PodInfo],
    rows: NDArray[np.intp],
    amounts: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Put each pod back on its row, and remove it again if the preemptor then does not fit.

    Return a mask of the pods that stay.
    """
    handle, pod, state, overlay = trial.handle, trial.pod, trial.state, trial.overlay
    nodes = handle.cluster.rows_at(rows, overlay)
    overlay.add(infos, rows, amounts)
    handle.add_pods(state, pod, fwk.PodsOnRows(nodes, infos, rows))
    fits = ~refusals(handle.run_filters(state, pod, nodes))
    away = np.flatnonzero(~fits)
    if len(away):
        infos, rows = [infos[position] for position in away.tolist()], rows[away]
        overlay.remove(infos, rows, amounts[:, away])
        handle.remove_pods(state, pod, fwk.PodsOnRows(nodes, infos, rows))
    return fits
