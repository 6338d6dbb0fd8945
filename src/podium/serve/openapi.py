"""The OpenAPI description of `podium serve`, made of the values that it reads and writes."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from podium.explain import Explanation, NodeExplanation
from podium.live.answer_values import Failure
from podium.serve import values

Json = dict[str, Any]

_TYPES: Final = (
    values.ExplainRequest,
    values.FitRequest,
    values.SimulateRequest,
    values.Summary,
    values.FitAnswer,
    values.SimulateAnswer,
    Failure,
    Explanation,
    NodeExplanation,
)
_DESCRIPTION: Final = (
    "Asks podium what the Kubernetes scheduler would do with a cluster, without touching it. "
    "Every answer is worked out on a copy of the cluster's state."
)
_FAILURES: Final = {
    "400": "The request cannot be read.",
    "401": "The token is missing or wrong.",
    "404": "There is no such pod or node; the message may suggest a similar name.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "422": "An object in the request is invalid.",
    "429": "Too many requests at once.",
    "504": "The answer took too long.",
}
_OF_READS: Final = ("401", "404", "429", "504")


def document() -> Json:
    """Return the description as plain data."""
    schemas, components = msgspec.json.schema_components(
        _TYPES, ref_template="#/components/schemas/{name}"
    )
    described: Json = {
        "openapi": "3.1.0",
        "info": {"title": "podium serve", "version": "v1", "description": _DESCRIPTION},
        "paths": _paths(dict(zip(_TYPES, schemas, strict=True))),
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }
    plain: Json = msgspec.json.decode(msgspec.json.encode(described))
    return plain


def _paths(schema: dict[Any, Json]) -> Json:
    pod, node = _path("namespace"), _path("name")
    on = {
        "name": "node",
        "in": "query",
        "description": "Also say why not on this node; may be repeated.",
        "schema": {"type": "array", "items": {"type": "string"}},
    }
    failure = schema[Failure]
    return {
        "/v1/cluster": _get(
            "summary", "How large the cluster is, and where it is read from.",
            schema[values.Summary], failure,
        ),
        "/v1/pods/{namespace}/{name}": _get(
            "explainPod", "Why a pod is pending, or why it has its node, and what would help.",
            schema[Explanation], failure, [pod, node, on],
        ),
        "/v1/nodes/{name}": _get(
            "explainNode", "What is free on a node, and which pending pods it would take.",
            schema[NodeExplanation], failure, [node],
        ),
        "/v1/explain": _post(
            "explain", values.ExplainRequest, schema[values.ExplainRequest], schema[Explanation],
            failure,
        ),
        "/v1/fit": _post(
            "fit", values.FitRequest, schema[values.FitRequest], schema[values.FitAnswer], failure
        ),
        "/v1/simulate": _post(
            "simulate", values.SimulateRequest, schema[values.SimulateRequest],
            schema[values.SimulateAnswer], failure,
        ),
    }  # fmt: skip


def _path(name: str) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _get(
    name: str, text: str, answer: Json, failure: Json, parameters: list[Json] | None = None
) -> Json:
    responses = _responses(answer, failure, _OF_READS)
    asked = {"parameters": parameters} if parameters else {}
    return {"get": {"operationId": name, "summary": text, **asked, "responses": responses}}


def _post(name: str, kind: type, request: Json, answer: Json, failure: Json) -> Json:
    text = (kind.__doc__ or "").split("\n\n")[0]
    return {
        "post": {
            "operationId": name,
            "summary": " ".join(text.split()),
            "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
            "responses": _responses(answer, failure, tuple(_FAILURES)),
        }
    }


def _responses(answer: Json, failure: Json, codes: tuple[str, ...]) -> Json:
    failures = {code: _response(_FAILURES[code], failure) for code in codes}
    return {"200": _response("The answer.", answer), **failures}


def _response(text: str, schema: Json) -> Json:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
