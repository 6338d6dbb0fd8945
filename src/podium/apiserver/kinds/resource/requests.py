"""Checks of what is asked for: claims, their templates, and device classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import msgspec

from podium.api.names import label_key_problems, label_value_problems
from podium.api.resources import is_extended
from podium.apiserver import statuses
from podium.apiserver.kinds.resource.taints import tolerations
from podium.apiserver.kinds.resource.values import (
    Declared,
    Found,
    declared,
    declared_driver,
    distinct,
    label,
    listed,
    qualified_attribute,
    reference,
    request_names,
    same,
    subdomain,
)
from podium.apiserver.statuses import Json
from podium.cel import compile_selector
from podium.cel.devices import MAX_COST, MAX_LENGTH
from podium.errors import InvalidExpression
from podium.release import Release

MOST = 32  # requests, constraints, configurations, selectors
MOST_ALTERNATIVES = 8
LONGEST_JSON = 10 * 1024
MODES = ("All", "ExactCount")
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
_OTHER_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_ONE_CONSTRAINT = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, '
    "but multiple fields are set"
)


def resource_claim_causes(claim: Json, release: Release) -> Found:
    return claim_causes((claim.get("spec") or {}).get("devices") or {}, "spec.devices", release)


def template_causes(template: Json, release: Release) -> Found:
    spec = template.get("spec") or {}
    yield from _template_metadata(spec.get("metadata") or {}, "spec.metadata")
    devices = (spec.get("spec") or {}).get("devices") or {}
    yield from claim_causes(devices, "spec.spec.devices", release)


def _template_metadata(meta: Json, path: str) -> Found:
    """Check the metadata of the claims: only labels and annotations are allowed."""
    for key in meta.get("annotations") or {}:
        for problem in label_key_problems(key.lower()):
            yield statuses.bad_value(f"{path}.annotations", key, problem)
    for key, value in (meta.get("labels") or {}).items():
        for problem in label_key_problems(key):
            yield statuses.bad_value(f"{path}.labels", key, problem)
        for problem in label_value_problems(value):
            yield statuses.bad_value(f"{path}.labels", value, problem)
    for name in _OTHER_METADATA:
        if meta.get(name):
            yield statuses.not_allowed(f"{path}.{name}", "cannot be set")


def class_causes(device_class: Json, release: Release) -> Found:
    yield from class_update_causes({}, device_class, release)


def class_update_causes(old: Json, device_class: Json, release: Release) -> Found:
    """Check a class; selectors that are exactly as before were checked when they were new."""
    spec = device_class.get("spec") or {}
    selectors = spec.get("selectors")
    if selectors != (old.get("spec") or {}).get("selectors"):
        yield from listed(selectors, "spec.selectors", MOST, partial(selector, release))
    yield from listed(spec.get("config"), "spec.config", MOST, configuration)
    name, path = spec.get("extendedResourceName"), "spec.extendedResourceName"
    if name is not None and not is_extended(name):
        older = statuses.bad_value(path, name, "must be a valid extended resource name")
        newer = tuple(statuses.bad_value(path, name, one) for one in _not_extended(name))
        yield Declared((older,), newer)


def _not_extended(name: str) -> Iterator[str]:
    """Yield why a name is not one of an extended resource."""
    if "/" not in name:
        yield "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
    elif "kubernetes.io/" in name:
        yield 'must not have "kubernetes.io/" domain'
    if name.startswith("requests."):
        yield 'must not have "requests." prefix'
    yield from label_key_problems(f"requests.{name}")


def claim_causes(claim: Json, path: str, release: Release) -> Found:
    """Check the devices that a claim or a template asks for."""
    names = request_names(claim)
    refer = partial(reference, names)
    asked = claim.get("requests")
    yield from distinct(asked, f"{path}.requests", MOST, partial(_request, release))
    constraints = claim.get("constraints")
    yield from listed(constraints, f"{path}.constraints", MOST, partial(_constraint, refer))
    yield from listed(claim.get("config"), f"{path}.config", MOST, partial(_claim_config, refer))


def _request(release: Release, request: Json, path: str) -> Found:
    yield from label(request.get("name"), f"{path}.name")
    exact, alternatives = request.get("exactly"), request.get("firstAvailable")
    if exact is not None and alternatives:
        yield statuses.bad_value(path, None, f"{_ONE_OF}, but multiple fields are set")
    elif alternatives:
        where = f"{path}.firstAvailable"
        yield from distinct(alternatives, where, MOST_ALTERNATIVES, partial(_alternative, release))
    elif exact is not None:
        yield from _class_name(exact.get("deviceClassName"), f"{path}.exactly.deviceClassName")
        yield from _common_causes(release, exact, f"{path}.exactly")
    else:
        yield statuses.required(path, _ONE_OF)


def _alternative(release: Release, request: Json, path: str) -> Found:
    yield from label(request.get("name"), f"{path}.name")
    causes = _class_name(request.get("deviceClassName"), f"{path}.deviceClassName")
    yield from declared(causes)
    yield from _common_causes(release, request, path)


def _class_name(name: str | None, path: str) -> Any:
    if not name:
        yield statuses.required(path)
    else:
        yield from subdomain(name, path)


def _common_causes(release: Release, request: Json, path: str) -> Found:
    """Check what both forms of a request have."""
    selectors = request.get("selectors")
    yield from listed(selectors, f"{path}.selectors", MOST, partial(selector, release))
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All" and count:
        detail = "must not be specified when allocationMode is 'All'"
        yield statuses.bad_value(f"{path}.count", count, detail)
    if mode == "ExactCount" and count <= 0:
        yield statuses.bad_value(f"{path}.count", count, "must be greater than zero")
    if mode not in MODES:
        yield same(statuses.unsupported(f"{path}.allocationMode", mode, MODES))
    yield from tolerations(request, path)


def selector(release: Release, one: Json, path: str) -> Found:
    """Check a selector that is new in its object."""
    cel = one.get("cel")
    if cel is None:
        yield statuses.required(f"{path}.cel")
        return
    expression, where = cel.get("expression", ""), f"{path}.cel.expression"
    if len(expression.encode()) > MAX_LENGTH:
        yield statuses.too_long(where, MAX_LENGTH)
        return
    cost, problem = _compiled(expression, release)
    if problem.startswith("program instantiation failed"):
        yield statuses.internal(where, problem)
    elif problem:
        yield statuses.bad_value(where, expression, problem)
    elif cost > MAX_COST:
        yield statuses.not_allowed(where, "too complex, exceeds cost limit")


@lru_cache(maxsize=1024)  # claims that are made from one template have the same selectors
def _compiled(expression: str, release: Release) -> tuple[int, str]:
    """Return what a new expression can cost, or why it does not compile."""
    try:
        return compile_selector(expression, release, is_new=True).cost, ""
    except InvalidExpression as error:
        return 0, str(error)


def _constraint(refer: Any, constraint: Json, path: str) -> Found:
    requests = constraint.get("requests")
    yield from distinct(requests, f"{path}.requests", MOST, refer)
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            yield from qualified_attribute(constraint[name], f"{path}.{name}")
            return
    yield statuses.required(path, _ONE_CONSTRAINT)


def _claim_config(refer: Any, config: Json, path: str) -> Found:
    yield from distinct(config.get("requests"), f"{path}.requests", MOST, refer)
    yield from configuration(config, path)


def configuration(config: Json, path: str) -> Found:
    opaque = config.get("opaque")
    if opaque is None:
        yield statuses.required(f"{path}.opaque")
        return
    yield from declared_driver(opaque.get("driver"), f"{path}.opaque.driver")
    yield from json_object(opaque.get("parameters"), f"{path}.opaque.parameters")


def json_object(value: Any, path: str) -> Found:
    """Check parameters for a driver: any object that is not too long."""
    if value is None:
        yield statuses.required(path)
    elif len(msgspec.json.encode(value)) > LONGEST_JSON:
        yield statuses.too_long(path, LONGEST_JSON)
    elif not isinstance(value, dict):
        yield statuses.bad_value(path, "<value omitted>", "must be a valid JSON object")
