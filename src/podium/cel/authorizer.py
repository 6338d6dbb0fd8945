"""Declarations of the authorizer, which no expression that podium evaluates has a variable for.

They are here because cel-go knows these functions everywhere: a call of one on a value of another
type fails when it is evaluated, not when it is compiled.
"""

from __future__ import annotations

from typing import Final

from podium.cel.environment import Library, function, library, overload

_PREFIX: Final = "kubernetes.authorization."
_FUNCTIONS: Final = (
    ("path", "authorizer_path", "Authorizer.(string) -> PathCheck"),
    ("group", "authorizer_group", "Authorizer.(string) -> GroupCheck"),
    ("serviceAccount", "authorizer_serviceaccount", "Authorizer.(string, string) -> Authorizer"),
    ("resource", "groupcheck_resource", "GroupCheck.(string) -> ResourceCheck"),
    ("subresource", "resourcecheck_subresource", "ResourceCheck.(string) -> ResourceCheck"),
    ("namespace", "resourcecheck_namespace", "ResourceCheck.(string) -> ResourceCheck"),
    ("name", "resourcecheck_name", "ResourceCheck.(string) -> ResourceCheck"),
    ("check", "pathcheck_check", "PathCheck.(string) -> Decision"),
    ("check", "resourcecheck_check", "ResourceCheck.(string) -> Decision"),
    ("errored", "decision_errored", "Decision.() -> bool"),
    ("error", "decision_error", "Decision.() -> string"),
    ("allowed", "decision_allowed", "Decision.() -> bool"),
    ("reason", "decision_reason", "Decision.() -> string"),
    ("fieldSelector", "authorizer_fieldselector", "ResourceCheck.(string) -> ResourceCheck"),
    ("labelSelector", "authorizer_labelselector", "ResourceCheck.(string) -> ResourceCheck"),
)


def _declared(signature: str) -> str:
    receiver, _, rest = signature.partition(".(")
    args, _, result = rest.partition(" -> ")
    result = _PREFIX + result if result[0].isupper() else result
    return f"{_PREFIX}{receiver}.({args} -> {result}"


AUTHORIZER: Final[Library] = library(
    *(
        function(name, overload(identifier, _declared(signature)))
        for name, identifier, signature in _FUNCTIONS
    )
)
