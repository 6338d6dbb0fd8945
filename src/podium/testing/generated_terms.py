"""Random wishes of pods, for ``generated``: spreading, affinity to pods and to nodes.

All from few values, so that wishes meet the labels that random nodes and pods have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from hypothesis import strategies as st

from podium.api.affinity import PREFERRED, REQUIRED
from podium.api.nodes import HOSTNAME, ZONE

Json = dict[str, Any]

APPS: Final = ("web", "db")


def _selecting(app: str) -> Json:
    return {"matchLabels": {"app": app}}


def _avoiding(app: str) -> Json:
    return {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]}


SELECTORS: Final = (*map(_selecting, APPS), *map(_avoiding, APPS), {}, None)


def spread_constraints() -> st.SearchStrategy[Json]:
    fields = st.fixed_dictionaries(
        {
            "maxSkew": st.integers(1, 2),
            "topologyKey": st.sampled_from((ZONE, HOSTNAME)),
            "whenUnsatisfiable": st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": st.sampled_from(SELECTORS),
            "minDomains": st.sampled_from((None, 2)),
            "nodeAffinityPolicy": st.sampled_from((None, "Ignore")),
            "nodeTaintsPolicy": st.sampled_from((None, "Honor")),
        }
    )
    return fields.map(_given)


def _given(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def terms() -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        {
            "topologyKey": st.sampled_from((ZONE, HOSTNAME, "disk")),
            "labelSelector": st.sampled_from(SELECTORS),
            "namespaces": st.sampled_from(([], ["default"], ["other"])),
            "namespaceSelector": st.sampled_from(
                (None, None, {}, {"matchLabels": {"team": "blue"}})
            ),
        }
    )


def affinities() -> st.SearchStrategy[Json]:
    """Any mix of required and preferred terms, for and against."""
    weighted = st.fixed_dictionaries({"weight": st.integers(1, 100), "podAffinityTerm": terms()})
    wishes = st.fixed_dictionaries(
        {
            REQUIRED: st.lists(terms(), max_size=1),
            PREFERRED: st.lists(weighted, max_size=1),
        }
    )
    return st.fixed_dictionaries({}, optional={"podAffinity": wishes, "podAntiAffinity": wishes})


_Requirements = Iterable[tuple[str, str, list[str]]]


def _node_term(requirements: _Requirements, fields: _Requirements = ()) -> Json:
    parts = ("key", "operator", "values")
    return {
        kind: [dict(zip(parts, requirement, strict=True)) for requirement in given]
        for kind, given in (("matchExpressions", requirements), ("matchFields", fields))
    }


NODE_TERMS: Final = (
    _node_term([("disk", "In", ["ssd"])]),
    _node_term([(ZONE, "NotIn", ["z1"]), ("disk", "Exists", [])]),
    _node_term([], [("metadata.name", "In", ["a"])]),
    _node_term([], [("metadata.name", "In", ["a"]), ("metadata.name", "In", ["b"])]),
    _node_term([]),
    _node_term([("disk", "Like", ["ssd"])]),  # nobody can read it
)


def node_affinities() -> st.SearchStrategy[Json]:
    """Up to two required terms and a preferred one that can be read."""
    required = st.lists(st.sampled_from(NODE_TERMS), max_size=2)
    preferred = st.sampled_from(NODE_TERMS[:3]).map(lambda term: {"weight": 3, "preference": term})
    return st.fixed_dictionaries(
        {
            REQUIRED: st.one_of(
                st.none(), required.map(lambda terms: {"nodeSelectorTerms": terms})
            ),
            PREFERRED: st.lists(preferred, max_size=1),
        }
    )
