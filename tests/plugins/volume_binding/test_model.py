"""Random claims, volumes and nodes: Filter agrees with a plain model, and Reserve with Filter."""

from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import PersistentVolume, PersistentVolumeClaim
from podium.plugins.volume.binding import ScoringVolumeBinding
from podium.plugins.volume.binding.reservation import Reservation
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support import volume_binding
from tests.support.generated_storage import OPEN_CLAIMS, open_storage
from tests.support.search import examples
from tests.support.storage import HOST, ZONE, csi_node, uses

NAMES = "abcd"
EBS = "kubernetes.io/aws-ebs"


@st.composite
def labelled_nodes(draw):
    return [
        node(
            name,
            labels={
                HOST: name,
                **draw(st.sampled_from(({}, {ZONE: "z1"}, {ZONE: "z2"}))),
                **draw(st.sampled_from(({}, {"disk": "ssd"}))),
                **draw(st.sampled_from(({}, {"topology.ebs.csi.aws.com/zone": "z1"}))),
            },
        )
        for name in NAMES
    ]


class Judged:
    """A pod with some claims, after PreFilter; ``is_through`` says whether it passed."""

    def __init__(self, objects, claims):
        self.handle = FakeHandle(*objects)
        self.cluster = self.handle.state
        self.plugin = ScoringVolumeBinding(ScoringVolumeBinding.Args(), self.handle)
        self.pod = pod("web", volumes=uses(*claims))
        self.pre_filter()

    def pre_filter(self):
        self.state = fwk.CycleState()
        answer = self.plugin.pre_filter(self.state, self.pod, self.handle.rows)
        self.is_through = answer is None

    def verdicts(self):
        return {n.name: self.plugin.filter(self.state, self.pod, n) for n in self.handle.rows}


CLAIM_LISTS = st.lists(st.sampled_from(OPEN_CLAIMS), min_size=1, max_size=2, unique=True)


@examples(300)
@given(nodes=labelled_nodes(), objects=open_storage(), claims=CLAIM_LISTS)
def test_filter_agrees_with_the_model(nodes, objects, claims):
    judged = Judged([*nodes, *objects], claims)
    if judged.is_through:
        for name, status in judged.verdicts().items():
            expected = volume_binding.reasons(judged.cluster, claims, judged.cluster.node(name))
            assert status.reasons == expected


@examples(300)
@given(
    nodes=labelled_nodes(),
    objects=open_storage(),
    claims=CLAIM_LISTS,
    migrated=st.sets(st.sampled_from(NAMES)),
    view=st.sets(st.sampled_from(range(len(NAMES)))),
)
def test_both_forms_agree(nodes, objects, claims, migrated, view):
    judged = Judged(
        [*nodes, *objects, *(csi_node(name, migrated=EBS) for name in migrated)], claims
    )
    if not judged.is_through:
        return
    rows = judged.handle.rows
    some = fwk.Rows(judged.cluster, rows.index[sorted(view)])
    plugin, state = judged.plugin, judged.state
    one_by_one = [plugin.filter(state, judged.pod, each) for each in some]
    assert list(plugin.filter_all(state, judged.pod, some)) == one_by_one
    scores = [plugin.score(state, judged.pod, each) for each in some]
    assert plugin.score_all(state, judged.pod, some).tolist() == scores
    assert all(0 <= found <= 100 for found in scores)


@examples(200)
@given(nodes=labelled_nodes(), objects=open_storage(), claims=CLAIM_LISTS, data=st.data())
def test_what_is_feasible_can_be_reserved_and_given_back(nodes, objects, claims, data):
    judged = Judged([*nodes, *objects], claims)
    feasible = [n for n, s in judged.verdicts().items() if s.ok] if judged.is_through else []
    if not feasible:
        return
    name = data.draw(st.sampled_from(feasible))
    before, state = judged.verdicts(), judged.state
    assert judged.plugin.reserve(state, judged.pod, name) is None
    volumes = [change.wanted.name for change in state.get(Reservation).volumes]
    assert len(set(volumes)) == len(volumes)

    judged.pre_filter()
    assert judged.verdicts()[name].ok  # the pod still fits where it has reserved

    judged.plugin.unreserve(state, judged.pod, name)
    for kind in (PersistentVolume, PersistentVolumeClaim):
        assert not len(judged.cluster.assumed(kind))
    judged.pre_filter()
    assert judged.verdicts() == before
