"""What is left out of objects: nothing that holds values of environment variables remains."""

import msgspec
import pytest

from podium.snapshot.trimming import trim

SPEC = {
    "containers": [
        {
            "name": "main",
            "image": "app",
            "command": ["SECRET"],
            "args": ["SECRET"],
            "env": [{"name": "PASSWORD", "value": "SECRET"}],
            "envFrom": [{"prefix": "SECRET"}],
            "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "a", "value": "SECRET"}]}},
            "readinessProbe": {"exec": {"command": ["SECRET"]}},
            "startupProbe": {"exec": {"command": ["SECRET"]}},
            "lifecycle": {"postStart": {"exec": {"command": ["SECRET"]}}},
        }
    ],
    "initContainers": [{"name": "init", "restartPolicy": "Always", "args": ["SECRET"]}],
    "ephemeralContainers": [{"name": "debug", "env": [{"name": "A", "value": "SECRET"}]}],
    "volumes": [{"name": "a", "csi": {"driver": "d", "volumeAttributes": {"key": "SECRET"}}}],
}
METADATA = {
    "name": "a",
    "labels": {"app": "web"},
    "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": "SECRET",
        "example.com/kept": "yes",
    },
    "managedFields": [{"manager": "SECRET"}],
}
TEMPLATE = {"template": {"metadata": METADATA, "spec": SPEC}}


def copy_of(value):
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        pytest.param("Pod", {"spec": SPEC}, id="pod"),
        pytest.param("Deployment", {"spec": TEMPLATE}, id="deployment"),
        pytest.param("CronJob", {"spec": {"jobTemplate": {"spec": TEMPLATE}}}, id="cron-job"),
        pytest.param("ControllerRevision", {"data": {"spec": TEMPLATE}}, id="revision"),
        pytest.param("StorageClass", {"parameters": {"key": "SECRET"}}, id="storage-class"),
        pytest.param(
            "PersistentVolume",
            {"spec": {"csi": {"driver": "d", "volumeAttributes": {"key": "SECRET"}}}},
            id="volume",
        ),
        pytest.param(
            "Pod",
            {
                "status": {
                    "containerStatuses": [
                        {
                            "state": {"terminated": {"exitCode": 1, "message": "SECRET"}},
                            "lastState": {"terminated": {"message": "SECRET"}},
                        }
                    ]
                }
            },
            id="status",
        ),
    ],
)
def test_secrets_are_removed(kind, content):
    obj = copy_of({"kind": kind, "metadata": METADATA, **content})
    assert b"SECRET" not in msgspec.json.encode(trim(obj))


def test_the_rest_is_kept():
    pod = trim(copy_of({"kind": "Pod", "metadata": METADATA, "spec": SPEC}))
    assert pod == {
        "kind": "Pod",
        "metadata": {
            "name": "a",
            "labels": {"app": "web"},
            "annotations": {"example.com/kept": "yes"},
        },
        "spec": {
            "containers": [{"name": "main", "image": "app"}],
            "initContainers": [{"name": "init", "restartPolicy": "Always"}],
            "ephemeralContainers": [{"name": "debug"}],
            "volumes": [{"name": "a", "csi": {"driver": "d"}}],
        },
    }


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "Pod", "metadata": [], "spec": [], "status": 5},
        {"kind": "Pod", "spec": {"containers": {}, "volumes": [1]}},
        {"kind": "Deployment", "spec": {"template": 3}},
        {"kind": "CronJob", "spec": None},
    ],
)
def test_malformed_objects_stay_as_they_are(obj):
    assert trim(copy_of(obj)) == obj
