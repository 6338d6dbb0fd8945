"""Optional values: how they are made, asked and unwrapped, and two-variable loops' maps."""

from __future__ import annotations

from typing import Final

from podium.cel import access, types, values
from podium.cel.environment import Library, function, library, overload
from podium.cel.macros import OPTIONALS as MACROS
from podium.cel.macros import TWO_VARIABLES
from podium.cel.values import NONE, Optional, Value
from podium.errors import EvaluationError


def _of_non_zero(value: Value) -> Optional:
    return NONE if values.is_zero(value) else Optional(value)


def _unwrap(items: list[Value]) -> list[Value]:
    for item in items:
        if type(item) is not Optional:
            raise EvaluationError(f"value {values.text(item)} is not optional")
    return [item.value for item in items if item is not NONE]


OPTIONALS: Final[Library] = library(
    function("optional.of", overload("optional_of", "(V) -> optional(V)", Optional)),
    function(
        "optional.ofNonZeroValue",
        overload("optional_ofNonZeroValue", "(V) -> optional(V)", _of_non_zero),
    ),
    function("optional.none", overload("optional_none", "() -> optional(V)", lambda: NONE)),
    function("value", overload("optional_value", "optional(V).() -> V", Optional.get)),
    function(
        "hasValue",
        overload("optional_hasValue", "optional(V).() -> bool", lambda value: value is not NONE),
    ),
    function("or", overload("optional_or_optional", "optional(V).(optional(V)) -> optional(V)")),
    function("orValue", overload("optional_orValue_value", "optional(V).(V) -> V")),
    function("_?._", overload("select_optional_field", "(dyn, string) -> optional(V)")),
    function(
        "_[?_]",
        overload("list_optindex_optional_int", "(list(V), int) -> optional(V)"),
        overload("optional_list_optindex_optional_int", "(optional(list(V)), int) -> optional(V)"),
        overload("map_optindex_optional_value", "(map(K, V), K) -> optional(V)"),
        overload("optional_map_optindex_optional_value", "(optional(map(K, V)), K) -> optional(V)"),
    ),
    function(
        "_[_]",
        overload("optional_list_index_int", "(optional(list(V)), int) -> optional(V)"),
        overload("optional_map_index_value", "(optional(map(K, V)), K) -> optional(V)"),
    ),
    function(
        "optional.unwrap",
        overload("optional_unwrap", "(list(optional(V))) -> list(V)", _unwrap),
    ),
    function(
        "unwrapOpt", overload("optional_unwrapOpt", "list(optional(V)).() -> list(V)", _unwrap)
    ),
    macros=MACROS,
    named={"optional_type": types.optional_of(types.DYN)},
)


def _with_entry(target: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    built = dict(target)
    access.insert(built, key, value)
    return built


def _with_entries(target: dict[Value, Value], added: dict[Value, Value]) -> dict[Value, Value]:
    built = dict(target)
    for key, value in access.pairs(added):
        access.insert(built, key, value)
    return built


TWO_VARIABLE_LOOPS: Final[Library] = library(
    function(
        "cel.@mapInsert",
        overload("@mapInsert_map_key_value", "(map(K, V), K, V) -> map(K, V)", _with_entry),
        overload("@mapInsert_map_map", "(map(K, V), map(K, V)) -> map(K, V)", _with_entries),
    ),
    macros=TWO_VARIABLES,
)
