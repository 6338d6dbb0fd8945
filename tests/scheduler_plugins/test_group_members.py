"""The members of groups as the watch shows them, with counts that are kept."""

from hypothesis import given
from hypothesis import strategies as st

from podium.api.pod_groups import COSCHEDULING_LABEL
from podium.scheduler_plugins.coscheduling.pod_groups import Members
from podium.testing.builders import pod

GATE = [{"name": "wait"}]
pods = st.builds(
    lambda of, is_gated, node: pod(
        "p",
        labels={COSCHEDULING_LABEL: of} if of else {},
        scheduling_gates=GATE if is_gated else [],
        node=node,
    ),
    st.sampled_from(["", "a", "b"]),
    st.booleans(),
    st.sampled_from(["", "n1"]),
)


@given(st.lists(st.tuples(st.integers(0, 2), st.none() | pods), max_size=30))
def test_counts_are_those_of_the_members(changes):
    members, known = Members(), {}
    for number, new in changes:
        new = new and pod(
            f"p{number}", labels=dict(new.labels),
            scheduling_gates=GATE if new.spec.scheduling_gates else [], node=new.node_name,
        )  # fmt: skip
        members.on_pod(known.get(number), new)
        known = {**known, number: new}
        for of in ("a", "b"):
            own = [
                one for one in known.values() if one and one.labels.get(COSCHEDULING_LABEL) == of
            ]
            key = f"default/{of}"
            assert {one.uid for one in members.of(key)} == {one.uid for one in own}
            assert members.gated(key) == sum(bool(one.spec.scheduling_gates) for one in own)
            assert members.bound(key) == sum(bool(one.node_name) for one in own)
