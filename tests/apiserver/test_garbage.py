"""What goes when its owner goes."""

import pytest

from tests.support.apiserver import CONFIG_MAPS, config_map, with_server


def owned_by(owner, name, **extra):
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    return config_map(name, ownerReferences=[reference], **extra)


async def names(client):
    return [one["metadata"]["name"] for one in (await client.get(CONFIG_MAPS))["items"]]


@with_server
async def test_dependents_follow_in_the_background(client):
    owner = await client.create(CONFIG_MAPS, config_map("owner"))
    child = await client.create(CONFIG_MAPS, owned_by(owner, "child"))
    await client.create(CONFIG_MAPS, owned_by(child, "grandchild"))

    await client.call("DELETE", f"{CONFIG_MAPS}/owner")

    assert await names(client) == []


@with_server
async def test_orphans_stay_and_forget_their_owner(client):
    owner = await client.create(CONFIG_MAPS, config_map("owner"))
    await client.create(CONFIG_MAPS, owned_by(owner, "child"))

    await client.call("DELETE", f"{CONFIG_MAPS}/owner?propagationPolicy=Orphan")

    assert await names(client) == ["child"]
    left = await client.get(f"{CONFIG_MAPS}/child")
    assert not left["metadata"].get("ownerReferences")


@with_server
async def test_foreground_waits_for_dependents(client):
    owner = await client.create(CONFIG_MAPS, config_map("owner"))
    await client.create(CONFIG_MAPS, owned_by(owner, "child", finalizers=["x/hold"]))

    await client.call("DELETE", f"{CONFIG_MAPS}/owner?propagationPolicy=Foreground")
    waiting = await client.get(f"{CONFIG_MAPS}/owner")
    assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]

    child = await client.get(f"{CONFIG_MAPS}/child")
    child["metadata"]["finalizers"] = []
    await client.call("PUT", f"{CONFIG_MAPS}/child", child)
    assert await names(client) == []


@with_server
async def test_who_names_an_owner_that_never_was_goes_at_once(client):
    ghost = {"metadata": {"name": "ghost", "uid": "no-such-uid"}}

    await client.create(CONFIG_MAPS, owned_by(ghost, "child"))

    assert await names(client) == []


@with_server
async def test_one_of_two_owners_is_enough(client):
    one = await client.create(CONFIG_MAPS, config_map("one"))
    two = await client.create(CONFIG_MAPS, config_map("two"))
    child = owned_by(one, "child")
    child["metadata"]["ownerReferences"] += owned_by(two, "x")["metadata"]["ownerReferences"]
    await client.create(CONFIG_MAPS, child)

    await client.call("DELETE", f"{CONFIG_MAPS}/one")

    left = await client.get(f"{CONFIG_MAPS}/child")
    assert [owner["name"] for owner in left["metadata"]["ownerReferences"]] == ["two"]


@pytest.mark.parametrize("policy", ["Sideways", "foreground"])
@with_server
async def test_unknown_policies_are_refused(client, policy):
    await client.create(CONFIG_MAPS, config_map("a"))

    path = f"{CONFIG_MAPS}/a?propagationPolicy={policy}"
    status, answer = await client.call("DELETE", path)

    assert (status, answer["reason"]) == (422, "Invalid")
