"""Whatever happens on the way: in the end there is what was asked for."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.controllers import World, node, workload
from tests.support.search import examples

KINDS = ("deployments.apps", "replicasets.apps", "statefulsets.apps")
RESOURCE = st.sampled_from(KINDS)
STEP = st.one_of(
    st.tuples(st.just("scale"), st.integers(0, 6)),
    st.tuples(st.just("image"), st.integers(1, 3)),
    st.tuples(st.just("delete"), st.integers(0, 5)),
    st.tuples(st.just("force"), st.integers(0, 5)),
    st.tuples(st.just("bind"), st.just(0)),
    st.tuples(st.just("wait"), st.integers(0, 20)),
)


class Story:
    """One workload under a user, and a scheduler that comes by now and then."""

    def __init__(self, resource):
        self.world = World()
        self.world.create("nodes", node())
        self.resource = resource
        self.replicas, self.image = 3, 1
        self.world.create(resource, workload(replicas=3))

    def step(self, what, number):
        match what:
            case "scale":
                self.replicas = number
                self._change(lambda obj: obj["spec"].update(replicas=number))
            case "image":
                self.image = number
                self._change(self._set_image)
            case "delete" | "force":
                for name in list(self.world.pods())[number : number + 1]:
                    grace = {"grace_seconds": 0} if what == "force" else {}
                    self.world.delete("pods", name, **grace)
            case "bind":
                self.world.bind_all()
            case "wait":
                self.world.wait(number)

    def _change(self, change):
        self.world.change(self.resource, "web", change)

    def _set_image(self, obj):
        obj["spec"]["template"]["spec"]["containers"][0]["image"] = f"app:{self.image}"

    def end(self):
        for _ in range(40):
            self.world.bind_all()
            self.world.wait(2)


@examples(25)
@given(resource=RESOURCE, steps=st.lists(STEP, max_size=12))
def test_it_ends_as_asked(resource, steps):
    story = Story(resource)
    for step in steps:
        story.step(*step)
    story.end()

    pods = story.world.pods(app="web").values()
    status = story.world.status(resource, "web")
    assert [one["status"]["phase"] for one in pods] == ["Running"] * story.replicas
    assert status.get("readyReplicas", 0) == story.replicas
    assert (
        status["observedGeneration"] == story.world.get(resource, "web")["metadata"]["generation"]
    )
    if resource != "replicasets.apps":  # a set does not replace pods for a new template
        images = {one["spec"]["containers"][0]["image"] for one in pods}
        assert images <= {f"app:{story.image}"}
        assert status.get("updatedReplicas", 0) == story.replicas
