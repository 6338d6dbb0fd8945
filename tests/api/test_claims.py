"""How pods, claims and storage classes refer to one another."""

import pytest

from podium.api.claims import BETA_CLASS, claim_key, class_name, is_owned, named_claims
from podium.testing.builders import pod
from tests.support.storage import claim, ephemeral, uses


def test_claims_of_a_pod_stand_in_the_order_of_its_volumes():
    subject = pod("web", volumes=[ephemeral("scratch"), *uses("data", emptyDir={})])

    assert list(named_claims(subject)) == [("web-scratch", True), ("data", False)]


def test_keys():
    assert claim_key("default", "data") == claim("data").key
    assert claim_key("", "data") == "data"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(claim(owner="uid-web"), True, id="its-own"),
        pytest.param(claim(owner="uid-other"), False, id="of-another-pod"),
        pytest.param(claim(), False, id="of-nobody"),
        pytest.param(claim(owner="uid-web", namespace="other"), False, id="other-namespace"),
    ],
)
def test_owner_of_an_ephemeral_claim(made, expected):
    assert is_owned(made, pod("web")) is expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(claim(storage_class=None), "", id="none"),
        pytest.param(claim(storage_class="std"), "std", id="field"),
        pytest.param(
            claim(storage_class="std", annotations={BETA_CLASS: "old"}), "old", id="annotation"
        ),
        pytest.param(
            claim(storage_class="std", annotations={BETA_CLASS: ""}), "", id="empty-annotation-wins"
        ),
    ],
)
def test_class_of_a_claim(made, expected):
    assert class_name(made) == expected
