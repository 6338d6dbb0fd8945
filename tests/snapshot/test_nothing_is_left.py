"""Nothing that a user has written is left in an anonymized snapshot, but for a list of fields."""

import gzip
import json
from random import Random

import pytest

from podium import snapshot
from podium.release import RELEASES
from podium.snapshot import KindName, Missing, Snapshot
from podium.snapshot.anonymizing import anonymize
from podium.snapshot.trimming import trim
from tests.support.marked_objects import MarkedObjects

# docs/snapshots.md lists these, too.
ENUMERATIONS = {
    "accessModes",
    "action",
    "allocationMode",
    "completionMode",
    "concurrencyPolicy",
    "declaredFeatures",
    "dnsPolicy",
    "effect",
    "fsGroupPolicy",
    "imagePullPolicy",
    "ipFamilies",
    "ipFamilyPolicy",
    "mountPropagation",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "operator",
    "persistentVolumeReclaimPolicy",
    "phase",
    "podManagementPolicy",
    "preemptionPolicy",
    "protocol",
    "qosClass",
    "resize",
    "restartPolicy",
    "skipNodeOperations",
    "source",
    "status",
    "terminationMessagePolicy",
    "type",
    "unhealthyPodEvictionPolicy",
    "volumeBindingMode",
    "volumeLifecycleModes",
    "volumeMode",
    "whenUnsatisfiable",
}
NAMES_OF_RESOURCES = {
    "allocatable",
    "allocatedResources",
    "allocatedResourceStatuses",
    "capacity",
    "extendedResourceName",
    "limits",
    "overhead",
    "podFixed",
    "requests",
    "resource",
    "resourceName",
    "resources",
}
DRIVERS_AND_CLASSES = {"attacher", "deviceClassName", "driver", "provisioner"}
IDENTIFIERS = {"resourceVersion", "shareID", "uid"}
# Below these fields, what drivers, devices and CEL expressions say stays as it is.
OF_DEVICES = {"devices", "sharedCounters", "taint", "deviceSelector"}
KINDS_WITH_KEPT_NAMES = {"CSIDriver", "DeviceClass"}
# Of these, not even what is about devices may be left.
NEVER = {"data", "message", "networkData", "parameters", "pool", "request", "nodeName", "?"}

# No search for the smallest case: a failure names its fields.
cases = pytest.mark.parametrize(
    ("release", "seed"), [(release, seed) for release in RELEASES for seed in range(3)]
)


def is_allowed(path):
    kind, *fields = path
    field = next(name for name in reversed(fields) if name not in ("[]", "{}"))
    allowed = ENUMERATIONS | NAMES_OF_RESOURCES | DRIVERS_AND_CLASSES | IDENTIFIERS
    if field in NEVER:
        return False
    if field in allowed:
        return True
    if fields == ["metadata", "name"] or fields == ["spec", "drivers", "[]", "name"]:
        return kind in KINDS_WITH_KEPT_NAMES or kind == "CSINode"
    return fields[0] == "spec" if kind == "DeviceClass" else bool(OF_DEVICES & set(fields))


def text_of(taken, folder):
    """Everything in the file that is written of a snapshot."""
    file = folder / "cluster.podium"
    snapshot.write(taken, file)
    return gzip.decompress(file.read_bytes()).decode()


def snapshot_of(objects, **more):
    found = {}
    for obj in objects:
        name = KindName(obj["apiVersion"], obj["kind"])
        found[name] = (json.dumps(obj).encode(),)
    return Snapshot(found, **more)


@cases
def test_objects(tmp_path, release, seed):
    marked = MarkedObjects(release, Random(seed))
    text = text_of(anonymize(snapshot_of(marked.all())), tmp_path)
    assert {path for path in marked.found_in(text) if not is_allowed(path)} == set()
    assert len(marked.found_in(text)) > 500, "it looks at what is left"


SECRETS = {
    "args",
    "command",
    "env",
    "envFrom",
    "lifecycle",
    "livenessProbe",
    "managedFields",
    "options",
    "parameters",
    "readinessProbe",
    "startupProbe",
    "volumeAttributes",
}


@cases
def test_no_snapshot_has_what_may_be_secret(release, seed):
    marked = MarkedObjects(release, Random(seed))
    text = json.dumps([trim(obj) for obj in marked.all()])
    left = {path for path in marked.found_in(text) if SECRETS & set(path)}
    # Of devices, opaque parameters are needed by drivers only, and dnsConfig has options, too.
    assert {path for path in left if "opaque" not in path and "dnsConfig" not in path} == set()


def marked_configuration(text):
    """A configuration with words of its owner wherever one can stand."""
    selector = {"matchExpressions": [{"key": text(), "operator": "In", "values": [text()]}]}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": text(), "token": text()},
        "leaderElection": {"resourceName": text(), "resourceNamespace": text()},
        "healthzBindAddress": text(),
        "extenders": [
            {
                "urlPrefix": text(),
                "bindVerb": text(),
                "tlsConfig": {"serverName": text(), "certData": text(), "keyFile": text()},
                "managedResources": [{"name": text()}],
            }
        ],
        "profiles": [
            {
                "schedulerName": text(),
                "plugins": {"multiPoint": {"enabled": [{"name": "Custom"}]}},
                "unknown": text(),
                "pluginConfig": [
                    {"name": "Custom", "args": {"url": text(), text(): {"token": text()}}},
                    {
                        "name": "NodeAffinity",
                        "args": {
                            "addedAffinity": {
                                "requiredDuringSchedulingIgnoredDuringExecution": {
                                    "nodeSelectorTerms": [selector]
                                }
                            },
                            "unknown": text(),
                        },
                    },
                    {
                        "name": "PodTopologySpread",
                        "args": {
                            "defaultConstraints": [
                                {"topologyKey": text(), "labelSelector": selector}
                            ],
                            "defaultingType": "List",
                        },
                    },
                    {"name": "NodeLabel", "args": {"presentLabels": [text()]}},
                ],
            }
        ],
        "unknown": text(),
    }


@cases
def test_the_header(tmp_path, release, seed):
    marked = MarkedObjects(release, Random(seed))
    taken = Snapshot(
        {},
        source=marked.text(),
        server_version=f"v1.37.0-{marked.text()}",
        configuration=marked_configuration(marked.text),
        missing=(Missing("Service", f"forbidden: {marked.text()}", "spreading may differ"),),
        notes=(marked.text(),),
    )
    text = text_of(anonymize(taken), tmp_path)
    assert "mark" not in text
    assert "v1.37.0" in text
    assert "the arguments of Custom are left out" in text
    assert "the extenders are left out" in text
