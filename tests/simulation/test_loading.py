"""What a simulation takes from a snapshot, and from the file of one."""

import gzip

import msgspec
import pytest

from podium import snapshot
from podium.errors import ConfigError, InvalidSnapshot, SimulationError
from podium.simulation import Simulation
from podium.simulation.building import DEFAULT_CONFIGURATION
from podium.simulation.compare import Variant, compare
from podium.snapshot import KindName, Snapshot


def replica(name):
    spec = {
        "nodeName": "n",
        "containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}],
        "tolerations": [{"key": "spot"}],
    }
    meta = {"name": name, "uid": name, "namespace": "x", "labels": {"app": "web"}}
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
    )


def test_pods_share_what_they_have_in_common():
    taken = Snapshot({KindName("v1", "Pod"): (replica("one"), replica("other"))})
    pods = Simulation.from_snapshot(taken).pods

    one, other = pods["x/one"], pods["x/other"]
    assert one.spec.containers is other.spec.containers
    assert one.spec.tolerations is other.spec.tolerations
    assert one.status.conditions[0] is other.status.conditions[0]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "cluster.podium"
    pods = tuple(replica(f"p{number}") for number in range(3))
    snapshot.write(Snapshot({KindName("v1", "Pod"): pods}, notes=("a note",)), path)
    return path


def test_a_file_is_read_without_being_kept(path):
    simulation = Simulation.from_snapshot(path)

    assert list(simulation.pods) == ["x/p0", "x/p1", "x/p2"]
    assert simulation.taken == Snapshot({}, notes=("a note",))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(lambda text: text[:-40], "cut short in line 4", id="cut"),
        pytest.param(lambda text: text.replace(b"p1", b'p"1'), "line 3 is not", id="bad"),
    ],
)
def test_a_damaged_file_is_reported_with_its_line(path, damage, message):
    path.write_bytes(gzip.compress(damage(gzip.decompress(path.read_bytes()))))
    with pytest.raises(InvalidSnapshot, match=message):
        Simulation.from_snapshot(path)


def test_errors_of_who_reads_a_file_are_not_blamed_on_it(path):
    with pytest.raises(ValueError, match="mine"):
        count_until_three(path)


def count_until_three(path):
    with snapshot.streamed(path) as stream:
        for number, _ in enumerate(stream.objects, 1):
            if number == 3:
                raise ValueError("mine")


def test_a_configuration_that_one_release_cannot_use_is_replaced_for_both():
    plugins = {"placementGenerate": {"enabled": [{"name": "NodeName"}]}}
    configuration = {**DEFAULT_CONFIGURATION, "profiles": [{"plugins": plugins}]}
    taken = Snapshot({KindName("v1", "Pod"): (replica("p"),)}, configuration=configuration)
    variants = (Variant.parse("1.36"), Variant.parse("1.37"))

    found = compare(taken, variants, only_pending=True)

    assert found.notes[0].startswith("the default configuration is assumed for both, because")
    with pytest.raises(ConfigError):
        Simulation.from_snapshot(taken, release="1.36")


@pytest.mark.parametrize("given", ["pod.yaml", ["pod"]])
def test_what_is_no_manifest_is_refused(given):
    simulation = Simulation.from_objects([])
    for call in (simulation.add, simulation.fit, simulation.explain):
        with pytest.raises(SimulationError):
            call(given)
