"""Which claims belong to a pod or to its group, and which of them are the group's."""

import pytest

from podium.api.objects import OwnerReference
from podium.app.own_plugins import in_tree
from podium.config.feature_gates import parse
from podium.plugins.dynamic_resources.groups import names_in_common
from podium.plugins.dynamic_resources.references import owned_by_pod, owned_by_pod_or_group
from podium.testing.builders import pod
from podium.testing.builders_devices import resource_claim
from tests.support.groups import group

IN_GROUP = {"scheduling_group": {"podGroupName": "gang"}}
NOT_POD = "ResourceClaim default/gpu was not created for Pod default/p (Pod is not owner)"
NEITHER = (
    "ResourceClaim default/gpu was not created for Pod default/p "
    "(neither Pod nor PodGroup gang is the owner)"
)


def owned_by(kind, name, api_version="scheduling.k8s.io/v1beta1", uid="uid-else"):
    owner = OwnerReference(api_version, kind, name, uid, controller=True)
    return resource_claim("gpu", owner_references=(owner,))


@pytest.mark.parametrize(
    ("claim", "alone", "in_group"),
    [
        pytest.param(owned_by("Pod", "p", "v1", "uid-p"), "", "", id="the-pod"),
        pytest.param(owned_by("PodGroup", "gang"), NOT_POD, "", id="its-group"),
        pytest.param(
            owned_by("PodGroup", "gang", "scheduling.k8s.io/v1alpha3"), NOT_POD, "",
            id="its-group-in-another-version",
        ),
        pytest.param(owned_by("PodGroup", "other"), NOT_POD, NEITHER, id="another-group"),
        pytest.param(
            owned_by("PodGroup", "gang", "example.com/v1"), NOT_POD, NEITHER, id="another-kind"
        ),
        pytest.param(resource_claim("gpu"), NOT_POD, NEITHER, id="nobody"),
    ],
)  # fmt: skip
def test_owners(claim, alone, in_group):
    assert owned_by_pod(pod("p", **IN_GROUP), claim) == alone
    assert owned_by_pod_or_group(pod("p"), claim) == alone
    assert owned_by_pod_or_group(pod("p", **IN_GROUP), claim) == in_group


@pytest.mark.parametrize(
    ("of_pod", "of_group", "expected"),
    [
        ({"resourceClaimName": "c"}, {"resourceClaimName": "c"}, {"gpu"}),
        ({"resourceClaimName": "c"}, {"resourceClaimName": "d"}, set()),
        ({"resourceClaimName": "c"}, {"resourceClaimTemplateName": "c"}, set()),
        ({"resourceClaimTemplateName": "t"}, {"resourceClaimTemplateName": "t"}, {"gpu"}),
    ],
)
def test_claims_that_pod_and_group_define_alike(of_pod, of_group, expected):
    asking = pod("p", **IN_GROUP, resource_claims=[{"name": "gpu", **of_pod}])
    known = group(resourceClaims=[{"name": "gpu", **of_group}])

    assert names_in_common(asking, known) == expected


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        ([], {"DeviceTaintRule"}),
        (["DRADeviceTaintRules=false"], set()),
        (["GenericWorkload=true"], {"DeviceTaintRule"}),
        (["GenericWorkload=true", "DRAWorkloadResourceClaims=true"],
         {"DeviceTaintRule", "PodGroup"}),
        (["GenericWorkload=true", "DRAWorkloadResourceClaims=true", "DRADeviceTaintRules=false"],
         {"PodGroup"}),
    ],
)  # fmt: skip
def test_what_is_watched(gates, expected):
    watched = {
        kind.__name__ for kind in in_tree(parse(gates)).entry("DynamicResources").build.watches
    }

    assert watched - {"DeviceClass", "ResourceClaim", "ResourceSlice"} == expected
