"""Which volumes would do for a claim, and which of them it gets."""

import pytest

from podium.errors import InvalidSelector
from podium.plugins.volume.binding.matching import find_candidates
from tests.support.storage import HOST, ZONE, claim, volume
from tests.support.volume_binding import Trial

NOW = "2026-01-01T00:00:00Z"
LABELS = {HOST: "a", ZONE: "z1"}


def chosen(wanted, *volumes, taken=(), labels=LABELS):
    found = find_candidates(Trial(wanted, *volumes).cluster, wanted).at(labels, taken)
    return found.name if found is not None else None


@pytest.mark.parametrize(
    ("wanted", "offered", "fits"),
    [
        pytest.param({}, {}, True, id="plain"),
        pytest.param({"storage": "2Gi"}, {"storage": "2Gi"}, True, id="just-large-enough"),
        pytest.param({"storage": "2000Mi"}, {"storage": "2Gi"}, True, id="compared-as-quantities"),
        pytest.param({"storage": "2Gi"}, {"storage": "2047Mi"}, False, id="too-small"),
        pytest.param({"storage": ""}, {}, True, id="asks-for-no-size"),
        pytest.param({"storage": "0.5"}, {"storage": "400m"}, False, id="not-rounded"),
        pytest.param({}, {"storage_class": "other"}, False, id="other-class"),
        pytest.param({"volume_mode": "Block"}, {}, False, id="other-mode"),
        pytest.param({"volume_mode": "Filesystem"}, {}, True, id="the-default-mode"),
        pytest.param(
            {"volume_attributes_class_name": "gold"}, {}, False, id="attributes-asked-for"
        ),
        pytest.param({}, {"volume_attributes_class_name": "gold"}, False, id="attributes-offered"),
        pytest.param({"volume_attributes_class_name": ""}, {}, True, id="no-attributes-either-way"),
        pytest.param({}, {"deletion_timestamp": NOW}, False, id="being-deleted"),
        pytest.param({}, {"phase": "Released"}, False, id="not-available"),
        pytest.param({}, {"phase": ""}, False, id="of-no-phase"),
        pytest.param({"access_modes": ["ReadWriteMany"]}, {}, False, id="other-access-mode"),
        pytest.param(
            {}, {"access_modes": ["ReadOnlyMany", "ReadWriteOnce"]}, True, id="more-modes"
        ),
        pytest.param({}, {"on": {ZONE: "z1 z2"}}, True, id="in-the-zone"),
        pytest.param({}, {"on": {ZONE: "z2"}}, False, id="in-another-zone"),
        pytest.param(
            {"selector": {"matchLabels": {"tier": "fast"}}},
            {"labels": {"tier": "fast"}},
            True,
            id="selected",
        ),
        pytest.param({"selector": {"matchLabels": {"tier": "fast"}}}, {}, False, id="not-selected"),
        pytest.param({"selector": {}}, {}, True, id="an-empty-selector-takes-all"),
        pytest.param({}, {"claim": "other"}, False, id="for-another-claim"),
        pytest.param({}, {"claim": claim(uid="old")}, False, id="for-a-former-claim"),
        pytest.param({}, {"claim": claim(namespace="x")}, False, id="of-another-namespace"),
    ],
)
def test_what_a_volume_must_have(wanted, offered, fits):
    assert chosen(claim(**wanted), volume(**offered)) == ("pv" if fits else None)


@pytest.mark.parametrize(
    ("wanted", "offered", "fits"),
    [
        pytest.param({}, {}, True, id="reserved"),
        pytest.param({}, {"phase": "Bound"}, True, id="of-any-phase"),
        pytest.param({"access_modes": ["ReadWriteMany"]}, {}, True, id="of-any-access-mode"),
        pytest.param({"selector": {"matchLabels": {"tier": "fast"}}}, {}, True, id="not-selected"),
        pytest.param({"storage": "5Gi"}, {}, False, id="but-large-enough"),
        pytest.param({"volume_mode": "Block"}, {}, False, id="but-of-the-mode"),
        pytest.param({}, {"deletion_timestamp": NOW}, False, id="but-not-being-deleted"),
        pytest.param({}, {"storage_class": "other"}, False, id="but-of-the-class"),
    ],
)
def test_a_reserved_volume_is_checked_for_less(wanted, offered, fits):
    assert chosen(claim(**wanted), volume(claim="data", **offered)) == ("pv" if fits else None)


def test_the_smallest_volume_is_taken():
    assert (
        chosen(claim(), volume("l", storage="9Gi"), volume("s"), volume("m", storage="2Gi")) == "s"
    )


def test_a_reserved_volume_is_taken_before_a_smaller_one():
    assert chosen(claim(), volume("small"), volume("mine", storage="9Gi", claim="data")) == "mine"


def test_beside_a_reserved_volume_elsewhere_no_other_will_do():
    volumes = volume("small"), volume("mine", claim="data", on={ZONE: "z2"})
    assert chosen(claim(), *volumes) is None


def test_a_reserved_volume_that_is_too_small_does_not_count():
    assert (
        chosen(claim(storage="2Gi"), volume("v", storage="2Gi"), volume("mine", claim="data"))
        == "v"
    )


def test_what_another_claim_took_is_taken():
    volumes = volume("a"), volume("b", storage="2Gi"), volume("c", storage="3Gi")
    assert chosen(claim(), *volumes, taken={"a", "b"}) == "c"


def test_volumes_of_one_label_value_are_found_among_all_others():
    volumes = [volume(f"v{n}", storage=f"{9 - n}Gi", on={HOST: f"n{n}"}) for n in range(5)]
    volumes += [volume("anywhere", storage="20Gi"), volume("zonal", storage="8Gi", on={ZONE: "z1"})]
    trial = Trial(claim(), *volumes)
    found = find_candidates(trial.cluster, claim()).others

    assert [v.name for v in found.at({HOST: "n3", ZONE: "z1"})] == ["v3", "zonal", "anywhere"]
    assert [v.name for v in found.at({HOST: "n9"})] == ["anywhere"]


def test_a_selector_that_cannot_be_read_fails_the_match():
    broken = {"selector": {"matchExpressions": [{"key": "tier", "operator": "Like"}]}}
    with pytest.raises(InvalidSelector, match=r"claim default/data: spec\.selector: "):
        chosen(claim(**broken), volume())


def test_what_is_assumed_is_taken_into_account():
    trial = Trial(claim(), claim("other"), volume())
    trial.cluster.assumed(type(volume())).assume(volume(claim=claim("other")))

    assert find_candidates(trial.cluster, claim()).at(LABELS, ()) is None
    found = find_candidates(trial.cluster, claim("other")).at(LABELS, ())
    assert (found.name, found.spec.claim_ref.name) == ("pv", "other")
