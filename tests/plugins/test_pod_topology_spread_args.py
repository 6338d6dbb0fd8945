"""PodTopologySpreadArgs: what is accepted, and what is said of the rest."""

import msgspec
import pytest

from podium.plugins.pod_topology_spread import PodTopologySpread

ZONE = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}


def decoded(**args):
    return msgspec.convert(args, PodTopologySpread.Args)


@pytest.mark.parametrize(
    ("args", "defaults"),
    [
        pytest.param(
            {}, [("kubernetes.io/hostname", 3), ("topology.kubernetes.io/zone", 5)], id="system"
        ),
        pytest.param({"defaultingType": "List"}, [], id="empty-list"),
        pytest.param(
            {"defaultingType": "List", "defaultConstraints": [ZONE]}, [("zone", 1)], id="list"
        ),
    ],
)
def test_defaults(args, defaults):
    args = decoded(**args)

    assert [(each.topology_key, each.max_skew) for each in args.defaults] == defaults
    assert not list(args.validate())


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        pytest.param(
            {"maxSkew": 0}, ".maxSkew", "Invalid value: 0: not in valid range (0, inf)", id="skew"
        ),
        pytest.param(
            {"topologyKey": ""}, ".topologyKey", "Required value: can not be empty", id="no-key"
        ),
        pytest.param(
            {"whenUnsatisfiable": ""},
            ".whenUnsatisfiable",
            "Required value: can not be empty",
            id="no-action",
        ),
        pytest.param(
            {"whenUnsatisfiable": "Cry"},
            ".whenUnsatisfiable",
            'Unsupported value: "Cry": supported values: "DoNotSchedule", "ScheduleAnyway"',
            id="unknown-action",
        ),
        pytest.param(
            {"labelSelector": {}},
            ".labelSelector",
            "Forbidden: constraint must not define a selector, as they deduced for each pod",
            id="selector",
        ),
    ],
)
def test_a_wrong_constraint(change, path, message):
    args = decoded(defaultingType="List", defaultConstraints=[{**ZONE, **change}])

    assert [(each.path, each.message) for each in args.validate()] == [
        (f"defaultConstraints[0]{path}", message)
    ]


@pytest.mark.parametrize(
    ("args", "path", "start"),
    [
        pytest.param(
            {"defaultingType": "Any"},
            "defaultingType",
            'Unsupported value: "Any": supported values: "System", "List"',
            id="unknown-type",
        ),
        pytest.param(
            {"defaultConstraints": [ZONE]},
            "defaultingType",
            'Invalid value: "System": when .defaultConstraints are not empty',
            id="system-with-a-list",
        ),
        pytest.param(
            {"defaultingType": "List", "defaultConstraints": [ZONE, {**ZONE, "maxSkew": 2}]},
            "defaultConstraints[1]",
            'Duplicate value: "{zone, ScheduleAnyway}"',
            id="the-same-twice",
        ),
        pytest.param(
            {"defaultingType": "List", "defaultConstraints": [{**ZONE, "topologyKey": "a b"}]},
            "defaultConstraints[0].topologyKey",
            'Invalid value: "a b": name part must consist of',
            id="no-label-key",
        ),
    ],
)
def test_wrong_as_a_whole(args, path, start):
    (problem,) = decoded(**args).validate()

    assert problem.path == path
    assert problem.message.startswith(start)


def test_unknown_fields_are_refused():
    with pytest.raises(msgspec.ValidationError):
        decoded(defaultConstraint=[])
