"""Informers of kinds that podium does not know, by their names."""

import pytest

from podium.client.resources import custom_resource
from podium.errors import PodiumError
from tests.support.client import with_world

CRD = {
    "metadata": {"name": "foos.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


@with_world
async def test_a_custom_kind_is_followed_once_it_is_installed(world):
    informer, _ = world.follow_plain(custom_resource("foos.v1.example.com"))
    await informer.wait_synced()
    assert informer.trouble

    world.create("customresourcedefinitions.apiextensions.k8s.io", **CRD)
    await world.in_time(lambda: informer.trouble is None)
    foo = {"metadata": {"name": "f", "namespace": "default"}, "spec": {"size": 3}}
    path = "/apis/example.com/v1/namespaces/default/foos"
    await world.post(path, {"apiVersion": "example.com/v1", "kind": "Foo", **foo})
    await world.until(lambda: informer.get("default/f"))

    assert informer.get("default/f")["spec"] == {"size": 3}


@pytest.mark.parametrize("name", ["pods", "foos.example", ".v1.example.com", "foos..com"])
def test_what_names_no_kind_is_refused(name):
    with pytest.raises(PodiumError, match=r"write it as foos\.v1\.example\.com"):
        custom_resource(name)
