"""Which claims of a pod can be found, by PreEnqueue and PreFilter alike."""

import pytest

from podium import framework as fwk
from podium.testing.builders import pod
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import Trial, claiming, templated, two_nodes

OWNED = [{"kind": "Pod", "name": "web", "uid": "uid-web", "controller": True}]
UNSET = pod("web", resource_claims=[{"name": "gpu"}])
NOT_MADE = pod(
    "web",
    resource_claims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
    status={"resource_claim_statuses": [{"name": "gpu"}]},
)


@pytest.mark.parametrize(
    ("asking", "claims", "problem"),
    [
        pytest.param(pod("web"), [], "", id="no-claims"),
        pytest.param(claiming("gpu"), [resource_claim("gpu")], "", id="by-name"),
        pytest.param(
            claiming("gpu"), [], 'could not find ResourceClaim "default/gpu"', id="missing"
        ),
        pytest.param(
            claiming("gpu"),
            [resource_claim("gpu", namespace="other")],
            'could not find ResourceClaim "default/gpu"',
            id="other-namespace",
        ),
        pytest.param(
            claiming("gpu"),
            [resource_claim("gpu", deletion_timestamp="2026-01-01T00:00:00Z")],
            'resourceclaim "gpu" is being deleted',
            id="being-deleted",
        ),
        pytest.param(
            UNSET,
            [],
            'pod "default/web", spec.resourceClaim "gpu": none of the supported fields are set',
            id="unknown-reference",
        ),
        pytest.param(
            templated(), [], 'pod "default/web": ResourceClaim not created yet', id="not-yet"
        ),
        pytest.param(
            templated("gpu-x"),
            [resource_claim("gpu-x", owner_references=OWNED)],
            "",
            id="by-template",
        ),
        pytest.param(
            templated("gpu-x"),
            [resource_claim("gpu-x")],
            "ResourceClaim default/gpu-x was not created for Pod default/web (Pod is not owner)",
            id="of-another-pod",
        ),
        pytest.param(NOT_MADE, [], "", id="deliberately-not-made"),
        pytest.param(
            claiming("gpu", "nic"),
            [resource_claim("gpu")],
            'could not find ResourceClaim "default/nic"',
            id="second-one-missing",
        ),
    ],
)
def test_claims_of_a_pod(asking, claims, problem):
    trial = Trial(*two_nodes(), *claims)
    expected = fwk.Status.unresolvable(problem) if problem else fwk.SUCCESS

    assert trial.plugin.pre_enqueue(asking) == expected
    if problem:
        assert trial.pre_filter(asking) == expected
        # PostFilter finds state, as upstream: preemption is asked after it.
        assert trial.post_filter(asking).is_rejection
    else:
        assert trial.pre_filter(asking).code in (fwk.Code.SUCCESS, fwk.Code.SKIP)
