"""The kubeconfig: our context in and out, and nothing else touched."""

import stat

import pytest
import yaml

from podium.cli import kubeconfig
from podium.errors import PodiumError

OTHERS = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "prod", "cluster": {"server": "https://prod.example.com"}}],
    "users": [{"name": "me", "user": {"token": "secret"}}],
    "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "me"}}],
    "current-context": "prod",
    "extensions": [{"name": "kept"}],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kube" / "config"


def test_a_new_file_is_ours_alone_and_private(path):
    kubeconfig.add_context(path, "http://127.0.0.1:1")

    found = yaml.safe_load(path.read_text())
    assert found["current-context"] == "podium"
    assert kubeconfig.server_of(found) == "http://127.0.0.1:1"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_other_contexts_stay_as_they_are(path):
    kubeconfig.write(path, OTHERS)

    kubeconfig.add_context(path, "http://127.0.0.1:1")
    kubeconfig.add_context(path, "http://127.0.0.1:2")
    found = kubeconfig.read(path)
    assert [one["name"] for one in found["contexts"]] == ["prod", "podium"]
    assert kubeconfig.server_of(found) == "http://127.0.0.1:2"
    assert found["current-context"] == "prod"
    kubeconfig.remove_context(path, "http://127.0.0.1:2")

    assert kubeconfig.read(path) == {**OTHERS, "preferences": {}}


def test_a_context_that_leads_elsewhere_by_now_is_not_removed(path):
    kubeconfig.add_context(path, "http://127.0.0.1:2")

    kubeconfig.remove_context(path, "http://127.0.0.1:1")

    assert kubeconfig.server_of(kubeconfig.read(path)) == "http://127.0.0.1:2"


def test_a_link_stays_a_link(path, tmp_path):
    target = tmp_path / "real"
    kubeconfig.write(target, OTHERS)
    path.parent.mkdir()
    path.symlink_to(target)

    kubeconfig.add_context(path, "http://127.0.0.1:1")

    assert path.is_symlink()
    assert kubeconfig.server_of(kubeconfig.read(target)) == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("{", "not readable as YAML", id="broken"),
        pytest.param("- a", "is not a kubeconfig", id="a-list"),
        pytest.param("clusters: 5", "is not a kubeconfig", id="clusters-no-list"),
        pytest.param("contexts: [a]", "is not a kubeconfig", id="contexts-no-objects"),
    ],
)
def test_bad_files_are_named_and_left_alone(path, text, why):
    path.parent.mkdir()
    path.write_text(text)

    with pytest.raises(PodiumError, match=why) as caught:
        kubeconfig.add_context(path, "http://127.0.0.1:1")

    assert str(path) in str(caught.value)
    assert "--kubeconfig" in str(caught.value)
    assert path.read_text() == text


def test_the_file_that_kubectl_uses(tmp_path):
    existing = tmp_path / "b"
    existing.touch()

    listed = f"{tmp_path / 'a'}:{existing}"

    assert kubeconfig.default_path({"KUBECONFIG": listed}) == existing
    assert kubeconfig.default_path({"KUBECONFIG": str(tmp_path / "a")}) == tmp_path / "a"
    assert kubeconfig.default_path({}).parts[-2:] == (".kube", "config")


@pytest.mark.parametrize(
    "text",
    [
        "0123",
        "1e5",
        "12:30:45",
        "2026-01-01",
        "2026-01-01T00:00:00Z",
        "1_000",
        "0x10",
        "1.10",
        "9" * 30,
    ],
)
def test_texts_that_look_like_something_else_stay(tmp_path, text):
    """Unquoted, as people write them; a reader after us must find the same characters."""
    path = tmp_path / "config"
    path.write_text(f"users:\n- name: me\n  user: {{token: {text}, flag: true, count: 5}}\n")

    kubeconfig.add_context(path, "http://127.0.0.1:1")
    kubeconfig.remove_context(path, "http://127.0.0.1:1")

    (user,) = yaml.safe_load(path.read_text())["users"]
    assert user["user"] == {"token": text, "flag": True, "count": 5}
