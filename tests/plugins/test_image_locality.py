import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.images import full_name
from podium.api.objects import Container
from podium.plugins.image_locality import ImageLocality
from podium.release import LATEST, RELEASES, V1_36, V1_37
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.releases import plugin_of

MIB = 1 << 20
LARGE = 1000 * MIB


def scores(subject, *nodes, release=LATEST):
    """What both forms say of these nodes."""
    handle = FakeHandle(*nodes)
    plugin = plugin_of("ImageLocality", release, handle)
    together = plugin.score_all(fwk.CycleState(), subject, handle.rows).tolist()
    assert together == [plugin.score(fwk.CycleState(), subject, each) for each in handle.rows]
    return together


def holding(*images):
    """A node per argument that holds these images."""
    return [node(f"n{number}", images=held) for number, held in enumerate(images)]


@pytest.mark.parametrize(
    ("image", "nodes", "expected"),
    [
        pytest.param("app:1", ({"app:1": LARGE}, {}), [48, 0], id="on-half"),
        pytest.param("app:1", ({"app:1": LARGE}, {"app:1": LARGE}), [100, 100], id="on-all"),
        pytest.param("app:1", ({"app:2": LARGE}, {}), [0, 0], id="other-tag"),
        pytest.param("app", ({"app:latest": LARGE},), [100], id="latest-is-added"),
        pytest.param("app", ({"app": LARGE},), [0], id="a-node-lists-tags"),
        pytest.param("app:1", ({"app:1": 23 * MIB},), [0], id="too-small-to-matter"),
        pytest.param("app:1", ({"app:1": 9 * LARGE},), [100], id="no-more-than-the-top"),
        pytest.param("", ({"app:1": LARGE},), [0], id="no-image"),
    ],
)
def test_score(image, nodes, expected):
    assert scores(pod(image=image), *holding(*nodes)) == expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        pytest.param("nginx", "nginx:latest", id="bare"),
        pytest.param("nginx:1.27", "nginx:1.27", id="tagged"),
        pytest.param("host:5000/app", "host:5000/app:latest", id="the-colon-of-a-port"),
        pytest.param("host:5000/app:2", "host:5000/app:2", id="port-and-tag"),
        pytest.param("app@sha256:abc", "app@sha256:abc", id="digest"),
    ],
)
def test_only_the_tag_is_completed(image, expected):
    assert full_name(image) == expected


def crowd(init=0, containers=1, volumes=0):
    """A pod that names the same image this many times."""
    images = [{"name": f"v{number}", "image": {"reference": "app:1"}} for number in range(volumes)]
    return pod(
        init_containers=(Container(image="app:1"),) * init,
        containers=(Container(image="app:1"),) * containers,
        volumes=images,
    )


@pytest.mark.parametrize(
    ("subject", "held", "expected"),
    [
        pytest.param(crowd(containers=2, volumes=1), 2, 66, id="two-thirds"),
        pytest.param(crowd(containers=2, volumes=1), 1, 32, id="a-third"),
        pytest.param(crowd(init=1, containers=1), 3, 100, id="init-containers-count-both-ways"),
        pytest.param(crowd(init=1, containers=1, volumes=9), 1, 33, id="volumes-count-both-ways"),
        pytest.param(crowd(containers=0, volumes=1), 3, 100, id="without-containers"),
        pytest.param(crowd(containers=0), 3, 0, id="without-anything"),
    ],
)
def test_every_mention_counts(subject, held, expected):
    nodes = holding(*[{"app:1": LARGE}] * held, *[{}] * (3 - held))

    assert scores(subject, *nodes) == [expected] * held + [0] * (3 - held)


@pytest.mark.parametrize(
    ("subject", "in_1_36", "in_1_37"),
    [
        pytest.param(crowd(containers=2, volumes=1), 99, 66, id="a-volume-more"),
        pytest.param(crowd(init=1, containers=1, volumes=9), 100, 66, id="mostly-volumes"),
        pytest.param(crowd(init=1, containers=1), 66, 66, id="no-volume"),
    ],
)
def test_what_100_points_take_with_image_volumes(subject, in_1_36, in_1_37):
    nodes = holding({"app:1": LARGE}, {"app:1": LARGE}, {})

    assert scores(subject, *nodes, release=V1_36) == [in_1_36, in_1_36, 0]
    assert scores(subject, *nodes, release=V1_37) == [in_1_37, in_1_37, 0]


def test_counts_are_live():
    """A node's score moves when another node gets the image; all nodes count, feasible or not."""
    handle = FakeHandle(*holding({"app:1": LARGE}, {}, {}))
    plugin, subject = ImageLocality(fwk.NoArgs(), handle), pod(image="app:1")

    def score(name):
        return plugin.score(fwk.CycleState(), subject, handle.state.node(name))

    assert score("n0") == 31
    handle.state.set_node(node("n1", images={"app:1": LARGE}))
    assert (score("n0"), score("n1"), score("n2")) == (65, 65, 0)
    handle.state.remove_node("n2")
    assert score("n0") == 100


def test_reads_and_signature():
    plugin, other = (plugin_of("ImageLocality", release) for release in RELEASES)

    assert plugin.depends_on(pod()) == fwk.Dependencies(cluster=fwk.Aspect.IMAGES)
    assert plugin.sign(pod("a", image="x", labels="a=b")) == plugin.sign(pod("b", image="x", cpu=1))
    assert plugin.sign(crowd(containers=1, volumes=1)) != plugin.sign(crowd(containers=2))
    assert other.sign(crowd(containers=1, volumes=1)) == other.sign(crowd(containers=2))


def model(images, held, on):
    """The score from its definition, in plain Python."""
    total = 0
    for image in images:
        if image in held[on]:
            spread = float(sum(image in names for names in held)) / float(len(held))
            total += int(float(SIZES[image]) * spread)
    least, most = 23 * MIB, 1000 * MIB * len(images)
    return 100 * (min(max(total, least), most) - least) // (most - least)


SIZES = {"a:1": 20 * MIB, "b:1": 700 * MIB, "c:1": 3333333333}


@given(
    images=st.lists(st.sampled_from(sorted(SIZES)), min_size=1, max_size=4),
    held=st.lists(st.sets(st.sampled_from(sorted(SIZES))), min_size=1, max_size=7),
)
def test_score_equals_its_definition(images, held):
    subject = pod(containers=tuple(Container(image=image) for image in images))
    nodes = holding(*({name: SIZES[name] for name in names} for names in held))

    assert scores(subject, *nodes) == [model(images, held, on) for on in range(len(held))]
