"""Two cores, of which one keeps what it knows of equal pods, and what may happen to both."""

from zlib import crc32

import msgspec
from hypothesis import strategies as st

from podium import app
from podium import framework as fwk
from podium.api.objects import Namespace, ObjectMeta, Service
from podium.config import default
from podium.cycle.outcome import Placed
from podium.framework.queued_pod import QueuedPod
from podium.framework.registry import Registry
from tests.support.clusters import NODE_NAMES, feed, nodes, pods, service
from tests.support.configurations import with_legacy
from tests.support.generated_storage import bound_storage_object, open_storage_change

CONFIGURATIONS = st.sampled_from((default(app.in_tree()), with_legacy()))


def signed_by_name(plugin):
    """The same plugin, for which every other pod has no signature."""

    def sign(self, pod):
        if crc32(pod.name.encode()) % 2:
            raise fwk.NotSignable
        return plugin.sign(self, pod)

    return type(plugin.__name__, (plugin,), {"sign": sign})


def unsigned(plugin):
    """The same plugin without a signature."""
    return type(plugin.__name__, (plugin,), {"sign": None})


KNOWN = app.in_tree_with_legacy()
PLUGINS = [KNOWN.entry(name).build for name in KNOWN]
CHANGED = st.dictionaries(
    st.sampled_from([each for each in PLUGINS if each.sign is not None]),
    st.sampled_from((unsigned, signed_by_name)),
    max_size=4,
)
"""Plugins that have no signature, or not always."""


def registry_with(changed):
    return Registry([changed[each](each) if each in changed else each for each in PLUGINS])


class Pair:
    """Two cores fed alike; one keeps what it knows of equal pods, the other starts from scratch."""

    def __init__(self, cluster, configuration, changed=None):
        registry = registry_with(changed or {})
        self.keeping, self.scratch = (
            app.build(configuration, registry=registry, reuses=reuses) for reuses in (True, False)
        )
        self.each(lambda core: feed(core, cluster))

    def each(self, change):
        return [change(core) for core in (self.keeping, self.scratch)]

    def attempt(self, pod):
        """Schedule the pod in both; they must agree in everything people can see."""
        both = self.each(lambda core: self._attempt(core, pod))
        assert both[0] == both[1]

    @staticmethod
    def _attempt(core, pod):
        outcome = core.cycle(QueuedPod.of(pod)).run()
        core.background.run()
        core.services.pod_classes.check_invariants()
        core.services.devices.check_invariants()
        record = outcome.record
        common = (record.feasible, record.rejected, record.tied, record.best, record.message)
        if isinstance(outcome, Placed):
            return (outcome.node_name, common)
        return (outcome.status.code, outcome.nominate, common, blamed(outcome.diagnosis))


def blamed(diagnosis):
    return diagnosis and (diagnosis.unschedulable_plugins, diagnosis.pending_plugins)


def delete(pair, number, draw):
    if placed := sorted(pair.keeping.cluster.pods):
        uid = draw(st.sampled_from(placed))
        pair.each(lambda core: core.cluster.remove_pod(core.cluster.pods[uid].pod))


def set_node(pair, number, draw):
    fresh = draw(nodes(draw(st.sampled_from(NODE_NAMES))))
    pair.each(lambda core: core.cluster.set_node(fresh))


def remove_node(pair, number, draw):
    state = pair.keeping.cluster
    names = [name for name in NODE_NAMES if state.node(name) is not None]
    if len(names) > 1:
        name = draw(st.sampled_from(names))
        pair.each(lambda core: core.cluster.remove_node(name))


def add_pod(pair, number, draw):
    other = draw(pods(f"added{number}", on=draw(st.sampled_from(NODE_NAMES))))
    pair.each(lambda core: core.cluster.add_pod(other))


def set_namespace(pair, number, draw):
    labels = draw(st.sampled_from(({}, {"team": "blue"})))
    name = draw(st.sampled_from(("default", "other")))
    fresh = Namespace(metadata=ObjectMeta(name=name, labels=labels))
    pair.each(lambda core: core.cluster.set_object(fresh))


def change_service(pair, number, draw):
    selected = draw(st.sampled_from(("web", "db")))
    if draw(st.booleans()):
        pair.each(lambda core: core.cluster.set_object(service(selected)))
    else:
        key = f"default/svc-{selected}"
        pair.each(lambda core: core.cluster.remove_object(Service, key))


def change_pod(pair, number, draw):
    """A new version of a placed pod: bound, relabelled or terminating."""
    state = pair.keeping.cluster
    if not state.pods:
        return
    info = state.pods[draw(st.sampled_from(sorted(state.pods)))]
    if state.is_assumed(info.uid):
        spec = msgspec.structs.replace(info.pod.spec, node_name=state.table.names[info.row])
        bound = msgspec.structs.replace(info.pod, spec=spec)
        pair.each(lambda core: core.cluster.add_pod(bound))
        return
    labels = st.sampled_from(({}, {"app": "web"}, {"app": "db"}))
    terminating = st.just({"deletion_timestamp": "2026-01-01T00:00:00Z"})
    changed = draw(st.one_of(labels.map(lambda found: {"labels": found}), terminating))
    meta = msgspec.structs.replace(info.pod.metadata, **changed)
    fresh = msgspec.structs.replace(info.pod, metadata=meta)
    pair.each(lambda core: core.cluster.update_pod(fresh))


def change_claims(pair, number, draw):
    """The API shows a new version of a claim or a volume, or that it is gone."""
    fresh = draw(open_storage_change(version=str(number + 2)))
    if draw(st.integers(0, 3)):
        pair.each(lambda core: core.cluster.set_object(fresh))
    else:
        pair.each(lambda core: core.cluster.remove_object(type(fresh), fresh.key))


def change_storage(pair, number, draw):
    fresh = draw(bound_storage_object())
    pair.each(lambda core: core.cluster.set_object(fresh))


EVENTS = (
    delete, set_node, remove_node, add_pod, set_namespace, change_service, change_pod,
    change_claims, change_storage,
)  # fmt: skip
