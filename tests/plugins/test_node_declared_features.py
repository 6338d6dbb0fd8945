import pytest

from podium import framework as fwk
from podium.errors import StateNotFound
from podium.plugins.node_declared_features import REJECTED, NodeDeclaredFeatures
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support.releases import plugin_of

PLUGIN = NodeDeclaredFeatures(fwk.NoArgs(), None)
RESTART = "RestartAllContainersOnContainerExits"
NAMESPACES = "UserNamespacesHostNetworkSupport"
MOUNTS = "VolumeBindMountOptions"
RULES = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}
MILD_RULES = {"restartPolicyRules": [{"action": "Restart"}]}

RESTARTING = pod(containers=[{"name": "main", **RULES}])
PLAIN = pod()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, set(), id="nothing"),
        pytest.param({"containers": [RULES]}, {RESTART}, id="container-rule"),
        pytest.param({"init_containers": [RULES]}, {RESTART}, id="init-container-rule"),
        pytest.param({"containers": [MILD_RULES]}, set(), id="other-action"),
        pytest.param({"host_network": True, "host_users": False}, {NAMESPACES}, id="namespaces"),
        pytest.param({"host_network": True}, set(), id="host-users-not-said"),
        pytest.param({"host_network": True, "host_users": True}, set(), id="host-users"),
        pytest.param({"host_users": False}, set(), id="pod-network"),
        pytest.param(
            {"containers": [RULES], "host_network": True, "host_users": False},
            {RESTART, NAMESPACES},
            id="both",
        ),
    ],
)
def test_required_features(spec, expected):
    assert PLUGIN.required(pod(**spec)) == expected


MOUNT = {"volumeMounts": [{"name": "a"}, {"name": "b", "bindMountOptions": ["noexec"]}]}
PLAIN_MOUNT = {"volumeMounts": [{"name": "a", "bindMountOptions": []}, {"name": "b"}]}


@pytest.mark.parametrize(
    ("spec", "in_1_37"),
    [
        pytest.param({"containers": [MOUNT]}, {MOUNTS}, id="container"),
        pytest.param({"init_containers": [MOUNT]}, {MOUNTS}, id="init-container"),
        pytest.param({"ephemeral_containers": [MOUNT]}, {MOUNTS}, id="ephemeral-container"),
        pytest.param({"containers": [PLAIN_MOUNT]}, set(), id="no-options"),
    ],
)
def test_options_of_bind_mounts(spec, in_1_37):
    subject = pod(**spec)

    assert plugin_of("NodeDeclaredFeatures", V1_36).required(subject) == set()
    assert plugin_of("NodeDeclaredFeatures", V1_37).required(subject) == in_1_37


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        pytest.param([], REJECTED, id="nothing-declared"),
        pytest.param([RESTART], fwk.SUCCESS, id="declared"),
        pytest.param(["A", RESTART, "Z"], fwk.SUCCESS, id="among-unknown-ones"),
        pytest.param([NAMESPACES], REJECTED, id="another-one"),
    ],
)
def test_filter(declared, expected):
    nodes = fwk.Rows.of(node("a", declared_features=declared), node("b"))
    state = fwk.CycleState()

    assert PLUGIN.pre_filter(state, RESTARTING, nodes) is None
    verdicts = PLUGIN.filter_all(state, RESTARTING, nodes)

    assert list(verdicts) == [expected, REJECTED]
    assert [PLUGIN.filter(state, RESTARTING, each) for each in nodes] == list(verdicts)


def test_rejection_is_final_and_says_why():
    assert fwk.Status.unresolvable("node(s) didn't match Pod's required features") == REJECTED


def test_skips_pods_that_need_nothing():
    assert PLUGIN.pre_filter(fwk.CycleState(), PLAIN, fwk.Rows.of(node())) == fwk.skip()


def test_filter_needs_pre_filter():
    nodes = fwk.Rows.of(node())

    with pytest.raises(StateNotFound):
        PLUGIN.filter(fwk.CycleState(), RESTARTING, nodes.at(0))
    with pytest.raises(StateNotFound):
        PLUGIN.filter_all(fwk.CycleState(), RESTARTING, nodes)


def test_signature_is_what_is_needed():
    assert PLUGIN.sign(pod(labels="app=x")) == PLUGIN.sign(PLAIN)
    assert PLUGIN.sign(RESTARTING) != PLUGIN.sign(PLAIN)
    assert PLUGIN.depends_on(PLAIN) == fwk.Dependencies()
    assert PLUGIN.depends_on(RESTARTING) == fwk.Dependencies(node=fwk.Aspect.FEATURES)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, [], True, id="new-node"),
        pytest.param([], [RESTART], True, id="declares-more"),
        pytest.param([RESTART], [], True, id="declares-less"),
        pytest.param([RESTART], [RESTART], False, id="the-same"),
    ],
)
def test_node_hint(old, new, expected):
    on_node, _ = PLUGIN.events_to_register()
    before = None if old is None else node(declared_features=old)

    assert on_node.event == fwk.on("Node", "add|declared-feature").event
    assert on_node.hint(RESTARTING, before, node(declared_features=new)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(RESTARTING, PLAIN, True, id="needs-less"),
        pytest.param(PLAIN, pod(labels="app=x"), False, id="needs-the-same"),
        pytest.param(pod("other", containers=[RULES]), pod("other"), False, id="other-pod"),
    ],
)
def test_pod_hint(old, new, expected):
    _, on_pod = PLUGIN.events_to_register()

    assert on_pod.event == fwk.on("TargetPod", "update").event
    assert on_pod.hint(PLAIN, old, new) is expected
