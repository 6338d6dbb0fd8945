import pytest

from podium.api.affinity import PREFERRED, REQUIRED
from podium.api.objects import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    decode,
    validate,
)
from podium.errors import InvalidObject

NEAR = {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}
UNREADABLE = '"Near" is not a valid label selector operator'
UNSUPPORTED = 'matchExpressions[0].operator: Unsupported value: "Near"'
AFFINITY = "spec.affinity"


def attracted(kind, when, *terms):
    return {"spec": {"affinity": {kind: {when: list(terms)}}}}


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        pytest.param(
            Pod, {"spec": {"topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": NEAR}]}},
            f"spec.topologySpreadConstraints[0].labelSelector: {UNREADABLE}", id="spread",
        ),
        pytest.param(
            Pod, attracted("podAffinity", REQUIRED, {}, {"labelSelector": NEAR}),
            f"{AFFINITY}.podAffinity.{REQUIRED}[1].labelSelector: {UNREADABLE}", id="affinity",
        ),
        pytest.param(
            Pod, attracted("podAntiAffinity", REQUIRED, {"namespaceSelector": NEAR}),
            f"{AFFINITY}.podAntiAffinity.{REQUIRED}[0].namespaceSelector: {UNREADABLE}",
            id="namespaces",
        ),
        pytest.param(
            Pod,
            attracted("podAffinity", PREFERRED,
                      {"weight": 1, "podAffinityTerm": {"labelSelector": NEAR}}),
            f"{AFFINITY}.podAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {UNREADABLE}",
            id="preferred",
        ),
        pytest.param(
            Pod,
            {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [NEAR]}}}}},
            f"{AFFINITY}.nodeAffinity.{REQUIRED}: nodeSelectorTerms[0].{UNSUPPORTED}", id="node",
        ),
        pytest.param(
            Pod, attracted("nodeAffinity", PREFERRED, {"weight": 1, "preference": NEAR}),
            f"{AFFINITY}.nodeAffinity.{PREFERRED}: [0].{UNSUPPORTED}", id="preferred-node",
        ),
        pytest.param(
            PersistentVolume,
            {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [NEAR]}}}},
            f"spec.nodeAffinity.required: nodeSelectorTerms[0].{UNSUPPORTED}", id="volume",
        ),
        pytest.param(PersistentVolumeClaim, {"spec": {"selector": NEAR}},
                     f"spec.selector: {UNREADABLE}", id="claim"),
        pytest.param(PodDisruptionBudget, {"spec": {"selector": NEAR}},
                     f"spec.selector: {UNREADABLE}", id="budget"),
        pytest.param(ReplicaSet, {"spec": {"selector": {"matchLabels": {"!": "?"}}}},
                     "spec.selector: ", id="labels-that-cannot-be"),
        pytest.param(CSIStorageCapacity, {"nodeTopology": NEAR},
                     f"nodeTopology: {UNREADABLE}", id="capacity"),
    ],
)  # fmt: skip
def test_where_and_why(kind, data, message):
    with pytest.raises(InvalidObject) as refused:
        validate(decode(kind, {"metadata": {"name": "x", "namespace": "d"}, **data}))

    assert str(refused.value).startswith(f"{kind.__name__} d/x: {message}")


def test_readable_ones_are_fine():
    selector = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
    term = {"labelSelector": selector, "namespaceSelector": {}, "topologyKey": "zone"}
    required = {"nodeSelectorTerms": [selector]}
    spec = {
        "affinity": {"podAffinity": {REQUIRED: [term]}, "nodeAffinity": {REQUIRED: required}},
        "topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": selector}, {"maxSkew": 1}],
    }
    validate(decode(Pod, {"metadata": {"name": "x"}, "spec": spec}))
