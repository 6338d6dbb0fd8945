"""The data about Kubernetes' types: how it is made, and that its two parts agree."""

import pytest

from podium.apiserver.published import GoType, definitions, go_type, schemas_file
from podium.release import LATEST, RELEASES, V1_36, V1_37
from tools import go_types, pack_schemas

SOURCE = """
package v1

import (
\tmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
\t"k8s.io/apimachinery/pkg/api/resource"
)

// Shelf holds books.
type Shelf struct {
\tmetav1.TypeMeta `json:",inline"`
\t// +optional
\tmetav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
\tSpec ShelfSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

type ShelfSpec struct {
\tBoards *int32 `json:"boards,omitempty" protobuf:"varint,1,opt,name=boards"`
\tColour string `json:"colour,omitempty" protobuf:"bytes,3,opt,name=colour"`
\tBooks []string `json:"books" protobuf:"bytes,2,rep,name=books"`
\tWeight resource.Quantity `json:"weight,omitempty" protobuf:"bytes,4,opt,name=weight"`
\tPlace `json:",inline" protobuf:"bytes,5,opt,name=place"`
\tSize `json:"" protobuf:"bytes,6,opt,name=size"`
\thidden string `json:"-"`
}

type Place struct {
\tRoom string `json:"room,omitempty" protobuf:"bytes,1,opt,name=room"`
}
"""


def test_a_line_per_go_type():
    meta = "apimachinery.pkg.apis.meta.v1"
    inline = "5:~api.hall.v1.Place 6:~api.hall.v1.Size"

    found = go_types.text(dict(go_types.parse(SOURCE, "api.hall.v1")))

    assert found.splitlines() == [
        "api.hall.v1.Place 1:room?",
        f"api.hall.v1.Shelf 0:~{meta}.TypeMeta 1:metadata? 2:spec{{}}",
        f"api.hall.v1.ShelfSpec 1:boards 3:colour? 2:books 4:weight? {inline}",
    ]


def test_go_types_are_read_from_a_checkout(tmp_path):
    for version in ("v1", "v1beta1"):
        folder = tmp_path / "api" / "hall" / version
        folder.mkdir(parents=True)
        (folder / "types.go").write_text(SOURCE)

    assert sorted(go_types.read(tmp_path)) == [
        "api.hall.v1.Place",
        "api.hall.v1.Shelf",
        "api.hall.v1.ShelfSpec",
    ]


every_release = pytest.mark.parametrize("release", RELEASES, ids=str)


@every_release
def test_the_packed_schemas_are_those_of_the_release(release):
    assert schemas_file(release).read_bytes() == pack_schemas.packed(release)


@every_release
def test_a_field_is_in_the_schema_and_in_the_go_type_or_in_neither(release):
    """Two sources, one release: only `status` of a few kinds is published without a Go field."""
    compared = 0
    for name in definitions(release):
        known = go_type(release, name)
        properties = definitions(release)[name].get("properties")
        if known is None or not properties:
            continue
        compared += 1
        assert names_of(known) == properties.keys() - {"apiVersion", "kind"}, name
    assert compared > 500


def names_of(known):
    found = set()
    for name in known.numbers.values():
        found |= names_of(name) if isinstance(name, GoType) else {name}
    return found - {"apiVersion", "kind"}


@pytest.mark.parametrize(
    ("definition", "field", "expected"),
    [
        pytest.param("apps.v1.DeploymentSpec", "replicas", False, id="pointer"),
        pytest.param("apps.v1.DeploymentSpec", "paused", True, id="value"),
        pytest.param("core.v1.Probe", "timeoutSeconds", True, id="value-beside-a-message"),
        pytest.param("core.v1.Volume", "configMap", False, id="pointer-inside-a-message"),
        pytest.param("core.v1.ContainerImage", "names", False, id="required"),
        pytest.param("core.v1.Pod", "kind", True, id="type-of-the-object"),
    ],
)
def test_which_fields_go_without_saying(definition, field, expected):
    assert (field in go_type(LATEST, f"io.k8s.api.{definition}").omitted) is expected


def test_a_type_that_go_does_not_have():
    assert go_type(LATEST, "io.example.v1.Shelf") is None


def test_structs_that_are_always_there_come_in_the_order_of_their_declaration():
    assert go_type(LATEST, "io.k8s.api.apps.v1.Deployment").embedded == (
        "metadata",
        "spec",
        "status",
    )
    assert go_type(LATEST, "io.k8s.api.apps.v1.DeploymentSpec").embedded == ("template", "strategy")


@pytest.mark.parametrize(("release", "is_there"), [(V1_36, False), (V1_37, True)], ids=str)
def test_a_field_of_one_release_only(release, is_there):
    known = go_type(release, "io.k8s.api.storage.v1.CSINode")
    assert ("status" in known.embedded) is is_there
