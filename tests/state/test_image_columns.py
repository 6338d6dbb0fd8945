import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.nodes import ContainerImage
from podium.state.cluster import ClusterState
from podium.state.image_columns import ImageColumns
from podium.testing.builders import node

NAMES = ("a:1", "b:1", "c:1")


def cluster(**held):
    """A node per keyword, with these images."""
    state = ClusterState()
    for name, images in held.items():
        state.set_node(node(name, images=images))
    return state


def on(state, image):
    """The names of the nodes that hold the image, asked in every way there is."""
    held = state.table.images.find(image)
    if held is None:
        return []
    rows = state.rows()
    mask = rows.holding(held).tolist()
    assert mask == [held.is_on(row) for row in rows.index.tolist()]
    assert held.spread == sum(mask)
    return [name for name, there in zip(rows.names, mask, strict=True) if there]


def size(state, image):
    return state.table.images.find(image).size_bytes


def test_which_nodes_hold_an_image():
    state = cluster(n1={"a:1": 1, "b:1": 2}, n2={"b:1": 2}, n3={})

    assert on(state, "a:1") == ["n1"]
    assert on(state, "b:1") == ["n1", "n2"]
    assert on(state, "c:1") == []


def test_images_follow_the_nodes():
    state = cluster(n1={"a:1": 1}, n2={"a:1": 1, "b:1": 2})
    state.set_node(node("n1", images={"b:1": 2}))
    assert (on(state, "a:1"), on(state, "b:1")) == (["n2"], ["n1", "n2"])

    state.remove_node("n2")
    assert (on(state, "a:1"), on(state, "b:1")) == ([], ["n1"])
    state.check_invariants()


def test_the_first_size_stands_while_some_node_holds_the_image():
    state = cluster(n1={"a:1": 100}, n2={"a:1": 200})
    assert size(state, "a:1") == 100

    state.remove_node("n1")
    assert size(state, "a:1") == 100
    state.remove_node("n2")
    state.set_node(node("n3", images={"a:1": 300}))
    assert size(state, "a:1") == 300


@pytest.mark.parametrize(
    ("others", "expected"),
    [pytest.param({}, 200, id="alone"), pytest.param({"n2": {"a:1": 7}}, 100, id="one-of-two")],
)
def test_the_only_holder_may_change_the_size(others, expected):
    state = cluster(n1={"a:1": 100}, **others)
    state.set_node(node("n1", images={"a:1": 200}))

    assert size(state, "a:1") == expected


def test_an_image_has_several_names_and_a_name_may_come_twice():
    images = ImageColumns()
    held = (ContainerImage(("a:1", "a@sha256:1"), 100), ContainerImage(("a:1",), 200))
    images.set(5, (), held)

    assert images.find("a:1").size_bytes == images.find("a@sha256:1").size_bytes == 100
    images.set(5, held, ())
    assert images.find("a:1") is None


def test_many_rows():
    state = ClusterState()
    for number in range(200):
        state.set_node(node(f"n{number:03}", images={"a:1": 1} if number % 3 == 0 else {}))

    assert on(state, "a:1") == [f"n{number:03}" for number in range(0, 200, 3)]


changes = st.tuples(
    st.sampled_from(("n1", "n2", "n3")),
    st.none() | st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3)),
)


@given(st.lists(changes, max_size=12))
def test_invariants_hold(steps):
    state = ClusterState()
    for name, images in steps:
        if images is not None:
            state.set_node(node(name, images=images))
        elif state.node(name) is not None:
            state.remove_node(name)
        state.check_invariants()


class OneByOne:
    """What ``ImageColumns`` must show: every change is made at once."""

    def __init__(self):
        self.sizes, self.rows = {}, {}

    def set(self, row, old, new):
        for name in (name for image in old for name in image.names):
            self.rows.get(name, set()).discard(row)
            if not self.rows.get(name):
                self.sizes.pop(name, None)
        for image in new:
            for name in image.names:
                self.sizes.setdefault(name, image.size_bytes)
                self.rows.setdefault(name, set()).add(row)

    def shown(self, name):
        return (self.sizes[name], sorted(self.rows[name])) if name in self.sizes else None


# Nodes share these, as the state makes them share equal images.
IMAGES = [
    ContainerImage(names, size) for names in (("a:1",), ("b:1", "a:1"), ("c:1",)) for size in (1, 2)
]
held_images = st.lists(st.sampled_from(IMAGES), max_size=3).map(tuple)


@given(st.lists(st.tuples(st.integers(0, 4), held_images, st.booleans()), max_size=12))
def test_images_are_read_late_and_show_what_was_set(steps):
    images, model, held = ImageColumns(), OneByOne(), {}
    for row, new, asks in steps:
        for each in (images, model):
            each.set(row, held.get(row, ()), new)
        held[row] = new
        if asks:
            check_equal(images, model)
    check_equal(images, model)


def check_equal(images, model):
    for name in NAMES:
        found = images.find(name)
        rows = [] if found is None else found.column(64).nonzero()[0].tolist()
        assert model.shown(name) == (None if found is None else (found.size_bytes, rows))


def test_an_image_on_more_nodes_than_are_kept_in_a_list():
    images = ImageColumns()
    for row in range(3000):
        images.set(row, (), (ContainerImage(("a:1",), 1),))
    images.set(7, (ContainerImage(("a:1",), 1),), ())

    held = images.find("a:1")
    assert held.column(3000).nonzero()[0].tolist() == [row for row in range(3000) if row != 7]
    assert held.spread == 2999
