"""Asking a volume plugin about a pod, in both forms, live and in a dry run."""

import numpy as np

from podium import framework as fwk
from podium.state.rows import PodsOnRows, Rows
from podium.testing.handle import FakeHandle


class Judge:
    """One plugin on a cluster of its own: ``Judge(VolumeZone, node("a"), claim())``."""

    def __init__(self, kind, *objects):
        self.handle = FakeHandle(*objects)
        self.cluster = self.handle.state
        self.plugin = kind(kind.Args(), self.handle)

    def pre_filter(self, subject, state=None):
        """PreFilter's status."""
        state = fwk.CycleState() if state is None else state
        return self.plugin.pre_filter(state, subject, self.cluster.rows()) or fwk.SUCCESS

    def verdicts(self, subject):
        """The status of each node, by name; all of them succeed when Filter is skipped."""
        state = fwk.CycleState()
        status = self.pre_filter(subject, state)
        if status.is_skip:
            return dict.fromkeys(self.cluster.rows().names, fwk.SUCCESS)
        assert status.ok, status
        return self.filtered(state, subject, self.cluster.rows())

    def rejected(self, subject):
        """The names of the nodes that will not do."""
        return "".join(sorted(n for n, status in self.verdicts(subject).items() if not status.ok))

    def filtered(self, state, subject, nodes):
        """The answers of both forms, which must agree."""
        together = list(self.plugin.filter_all(state, subject, nodes))
        assert together == [self.plugin.filter(state, subject, each) for each in nodes]
        return dict(zip(nodes.names, together, strict=True))

    def dry_run(self, subject, *changes, follow=True):
        """The status of each node after changes such as ``(pod, "a", 1)`` and ``(pod, "a", -1)``.

        Each node is a world of its own. ``None`` when PreFilter leaves Filter out. Without
        ``follow`` the plugin runs as in a profile that disables its PreFilter.
        """
        state = fwk.CycleState()
        if follow and not self.pre_filter(subject, state).ok:
            return None
        before = repr(state.clone()._values)
        world = state.clone()
        rows = self.cluster.table.live_rows()
        overlay = self.cluster.overlay(rows)
        nodes = Rows(self.cluster, rows, overlay)
        for other, name, amount in changes:
            info = self.cluster.pods.get(other.uid) or fwk.PodInfo(other)
            place = np.array([self.cluster.table.row_of(name)], np.intp)
            change = overlay.add if amount > 0 else overlay.remove
            change([info], place)
            if follow and isinstance(self.plugin, fwk.PreFilterExtensions):
                others = PodsOnRows(nodes, [info], place)
                tell = self.plugin.add_pods if amount > 0 else self.plugin.remove_pods
                tell(world, subject, others)
        verdicts = self.filtered(world, subject, nodes)
        assert repr(state._values) == before, "a dry run changed what PreFilter found"
        return verdicts
