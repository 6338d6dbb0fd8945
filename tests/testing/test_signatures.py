"""assert_signature_sound finds plugins that sign or read less than they look at."""

import pytest
from hypothesis import given

from podium import framework as fwk
from podium.testing import assert_signature_sound, node, pod, service
from podium.testing.generated_cases import cases
from podium.testing.signatures import Comparison
from tests.support.configurations import JUDGES
from tests.support.search import examples


class Racks(fwk.FilterPlugin):
    """A pod with the label ``rack`` runs in that rack only."""

    name = "Racks"
    sign = fwk.pod_fields("metadata.labels")

    def depends_on(self, subject):
        return fwk.Dependencies(node=fwk.Aspect.LABELS)

    def filter(self, state, subject, candidate):
        wanted = subject.labels.get("rack")
        if wanted in (None, candidate.labels.get("rack")):
            return None
        return fwk.Status.unschedulable("another rack")


class SignsTooLittle(Racks):
    name = "SignsTooLittle"
    sign = fwk.pod_fields("metadata.namespace")


class DeclaresTooLittle(Racks):
    name = "DeclaresTooLittle"

    def depends_on(self, subject):
        return fwk.Dependencies(node=fwk.Aspect.TAINTS)


class LooksFar(fwk.ScorePlugin):
    """Looks at all nodes and says that it looks at one."""

    name = "LooksFar"
    sign = fwk.pod_fields()

    def __init__(self, args, handle):
        self._cluster = handle.cluster

    def depends_on(self, subject):
        return fwk.Dependencies(node=fwk.Aspect.PODS)

    def score(self, state, subject, candidate):
        return min(len(self._cluster.pods), 100)


STORY = [
    node("a", labels="rack=r1"),
    node("b"),
    node("b", labels="rack=r2"),
    pod("x", node="a"),
    service("web"),
]
PICKY = pod("web", labels="rack=r2")
LIKE = [*STORY, PICKY, pod("other", labels="rack=r1")]


def test_a_sound_plugin_passes():
    assert_signature_sound(Racks, PICKY, STORY)
    assert_signature_sound(Racks, like=LIKE)


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        pytest.param(
            DeclaresTooLittle,
            r"DeclaresTooLittle: .+depends_on\(pod\) leaves out(?s:.+)"
            r"Node b was added or changed \(LABELS",
            id="labels",
        ),
        pytest.param(
            LooksFar, r"depends_on\(pod\) leaves out(?s:.+)Pod default/x was added.+PODS", id="pods"
        ),
    ],
)
def test_reads_that_leave_out_too_much_are_found(plugin, message):
    with pytest.raises(AssertionError, match=message):
        assert_signature_sound(plugin, PICKY, STORY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        pytest.param(SignsTooLittle, r"equal signatures.+sign\(pod\) leaves out", id="sign"),
        pytest.param(DeclaresTooLittle, r"depends_on\(pod\) leaves out", id="depends-on"),
        pytest.param(LooksFar, r"depends_on\(pod\) leaves out", id="far"),
    ],
)
def test_faults_are_found_on_generated_clusters(plugin, message, unshrunk):
    with pytest.raises(AssertionError, match=message):
        assert_signature_sound(plugin, like=LIKE)


class Unsigned(Racks):
    name = "Unsigned"
    sign = None


class Unhashable(Racks):
    name = "Unhashable"

    def sign(self, subject):
        return subject.labels


class Bystander(fwk.PermitPlugin):
    name = "Bystander"

    def permit(self, state, subject, node_name):
        return None


@pytest.mark.parametrize(
    ("plugin", "error", "message"),
    [
        pytest.param(Unsigned, AssertionError, "Unsigned has no sign", id="unsigned"),
        pytest.param(Unhashable, TypeError, "unhashable", id="unhashable"),
        pytest.param(Bystander, TypeError, "judges no nodes", id="bystander"),
        pytest.param(Racks(None, None), TypeError, "give its class", id="built"),
    ],
)
def test_what_cannot_be_checked_is_an_error(plugin, error, message):
    with pytest.raises(error, match=message):
        assert_signature_sound(plugin, PICKY, STORY)


@examples(25)
@given(case=cases())
def test_the_signatures_of_our_plugins_are_sound(case):
    for plugin, args in JUDGES:
        Comparison(plugin, args).run(case)
