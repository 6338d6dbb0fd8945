"""The group networking.k8s.io: ingresses, their classes, network policies."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, NONE, column, first_of, labels_text
from podium.apiserver.kinds.core.services import start_load_balancer
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_GROUP = "networking.k8s.io"


def _check_ingress(ingress: Json) -> Causes:
    spec = ingress.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        detail = "either `defaultBackend` or `rules` must be specified"
        yield statuses.bad_value("spec", spec.get("rules"), detail)


def _hosts(ingress: Json) -> str:
    hosts = [one.get("host") for one in at(ingress, "spec.rules") or [] if one.get("host")]
    return first_of(hosts, 3) or "*"


def _addresses(ingress: Json) -> str:
    listed = at(ingress, "status.loadBalancer.ingress") or []
    return ",".join(one.get("ip") or one.get("hostname", "") for one in listed)


INGRESS = ApiKind(
    _GROUP,
    "v1",
    "Ingress",
    "ingresses",
    short_names=("ing",),
    subresources=("status",),
    counts_generations=True,
    start=start_load_balancer,
    check=_check_ingress,
    columns=(
        NAME,
        column("Class", lambda o: at(o, "spec.ingressClassName") or NONE),
        column("Hosts", _hosts),
        column("Address", _addresses),
        column("Ports", lambda o: "80, 443" if at(o, "spec.tls") else "80"),
        AGE,
    ),
)


def _check_ingress_class(ingress_class: Json) -> Causes:
    if not (ingress_class.get("spec") or {}).get("controller"):
        yield statuses.required("spec.controller")


def _parameters(ingress_class: Json) -> str:
    given = at(ingress_class, "spec.parameters")
    if not given:
        return NONE
    kind = f"{given['kind']}.{given['apiGroup']}" if given.get("apiGroup") else given["kind"]
    return f"{kind}/{given['name']}"


INGRESS_CLASS = ApiKind(
    _GROUP,
    "v1",
    "IngressClass",
    "ingressclasses",
    namespaced=False,
    counts_generations=True,
    check=_check_ingress_class,
    columns=(
        NAME,
        column("Controller", lambda o: at(o, "spec.controller")),
        column("Parameters", _parameters),
        AGE,
    ),
)


def _set_policy_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_missing(spec, policyTypes=["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


NETWORK_POLICY = ApiKind(
    _GROUP,
    "v1",
    "NetworkPolicy",
    "networkpolicies",
    short_names=("netpol",),
    counts_generations=True,
    set_defaults=_set_policy_defaults,
    complete=lambda policy: spec_of(policy).setdefault("podSelector", {}),
    columns=(
        NAME,
        column("Pod-Selector", lambda o: labels_text(at(o, "spec.podSelector.matchLabels") or {})),
        AGE,
    ),
)

KINDS = (INGRESS, INGRESS_CLASS, NETWORK_POLICY)
