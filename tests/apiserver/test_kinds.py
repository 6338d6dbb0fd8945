"""The descriptions of the built-in kinds: each is complete, and names only what there is."""

import pytest

from podium.apiserver.kinds.builtin import builtin_kinds
from podium.apiserver.schemas import ANYTHING
from podium.release import RELEASES

TABLES = {release: builtin_kinds(release) for release in RELEASES}
KINDS = [kind for table in TABLES.values() for kind in table]

every_kind = pytest.mark.parametrize(
    "kind", KINDS, ids=lambda kind: f"{kind.resource}-{kind.version}-{kind.release}"
)


every_table = pytest.mark.parametrize("table", TABLES.values(), ids=map(str, TABLES))


@every_table
def test_each_is_found_by_path_by_kind_and_by_resource(table):
    kinds = list(table)

    assert len({(kind.api_version, kind.kind) for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert table.at(kind.group, kind.version, kind.plural) is kind
        assert table.of(kind.api_version, kind.kind) is kind
    assert table.resource("horizontalpodautoscalers.autoscaling").version == "v2"
    with pytest.raises(KeyError):
        table.resource("unicorns")


@every_table
def test_short_names_mean_one_resource(table):
    owners = {}
    for kind in table:
        for name in (kind.plural, kind.singular, *kind.short_names):
            owners.setdefault(name, set()).add(kind.storage)

    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


@every_kind
def test_each_has_a_published_schema(kind):
    assert kind.schema is not ANYTHING
    assert kind.schema.name.endswith(f".{kind.version}.{kind.kind}")


@every_kind
def test_fields_that_are_not_required_are_required_by_the_schema(kind):
    types = types_below(kind.schema)

    for type_name, fields in kind.not_required.items():
        assert set(fields) <= set(types[type_name].required), type_name


@every_kind
def test_columns_have_different_names(kind):
    names = [column.name for column in kind.columns]

    assert len(set(names)) == len(names)
    assert "Name" in names


def types_below(schema):
    """The published types inside a schema, by their short names."""
    found, waiting = {}, [schema]
    while waiting:
        one = waiting.pop()
        if one.name and one.name.rpartition(".")[2] in found:
            continue
        if one.name:
            found[one.name.rpartition(".")[2]] = one
        parts = (*one.properties.values(), one.additional, one.items)
        waiting += [part for part in parts if part is not None]
    return found
