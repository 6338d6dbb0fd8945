"""The state file: one cluster at a time, and none that only seems to run."""

import pytest

from podium.cli.state_file import (
    RunningCluster,
    StateFile,
    default_path,
    find_running,
    look,
)
from podium.errors import AlreadyRunning

CLUSTER = RunningCluster(42, "http://127.0.0.1:1", "/somewhere/config", 3)


def test_it_is_there_while_it_is_held(tmp_path):
    path = tmp_path / "podium" / "cluster.json"

    with StateFile(path) as file:
        file.write(CLUSTER)
        assert find_running(path) == CLUSTER

    assert find_running(path) is None
    assert not path.exists()


def test_a_second_cluster_is_refused(tmp_path):
    path = tmp_path / "cluster.json"
    with StateFile(path) as file:
        file.write(CLUSTER)

        with pytest.raises(
            AlreadyRunning, match=r"process 42, http://127.0.0.1:1\); .*podium down"
        ):
            StateFile(path).__enter__()

        assert find_running(path) == CLUSTER


def test_a_file_left_behind_is_no_cluster(tmp_path):
    path = tmp_path / "cluster.json"
    path.write_text('{"pid":1,"url":"http://127.0.0.1:1","kubeconfig":"c"}')

    assert find_running(path) is None
    assert look(path) == (RunningCluster(1, "http://127.0.0.1:1", "c"), False)
    with StateFile(path) as file:
        file.write(CLUSTER)
        assert find_running(path) == CLUSTER


def test_where_it_is(tmp_path):
    path = default_path(environment={"XDG_STATE_HOME": str(tmp_path)})

    assert path == tmp_path / "podium" / "cluster.json"
