"""Scripts: the same questions, most of them wrong, about every resource that podium serves."""

import functools
import json

from podium.apiserver.kinds.builtin import builtin_kinds
from tests.support.control_plane.comparison import (
    APPLY,
    JSON,
    JSON_PATCH,
    MERGE,
    PARTIAL,
    PARTIAL_LIST,
    STRATEGIC,
    TABLE,
)
from tests.support.control_plane.scripts.customizing import wait_until_established
from tests.support.control_plane.scripts.samples import sample, sample_name

KINDS = [kind for kind in builtin_kinds() if kind.verbs != ("create",)]
CHOSEN = "labelSelector=app%3Dsample"


class About:
    """One resource's paths in a script's namespace."""

    def __init__(self, ask, kind):
        self.ask = ask
        self.kind = kind
        inside = f"/namespaces/{ask.namespace}" if kind.namespaced else ""
        self.path = f"{kind.prefix}{inside}/{kind.plural}"
        self.none = f"{self.path}/none"
        self.one = f"{self.path}/{sample_name(kind)}"

    def body(self, **meta):
        """The sample, with other metadata."""
        found = sample(self.kind, self.ask.namespace)
        return {**found, "metadata": {**found["metadata"], **meta}}


def bad_reads(about):
    ask, path = about.ask, about.path
    ask.get(about.none)
    ask.get(about.none, accept=TABLE)
    ask.get(about.none, accept="application/xml")
    ask.get(f"{about.none}/nothing")
    ask.get(f"{path}/Bad_Name")
    for query in (
        "labelSelector=a%20b",
        "labelSelector=a%3D%3D%3Db",
        "fieldSelector=spec.none%3D1",
        "fieldSelector=metadata.name",
        "fieldSelector=metadata.name%3Dnone,odd!%3D1",
        "resourceVersion=abc",
        "resourceVersion=-5",
        "resourceVersionMatch=Odd",
        "resourceVersion=5&resourceVersionMatch=Odd",
        "limit=x",
        "limit=99999999999999999999",
        "continue=odd",
        "continue=e30",
        "timeoutSeconds=x",
        "watch=maybe&timeoutSeconds=1&resourceVersionMatch=Exact",
        "watch=1&labelSelector=a%20b",
        "watch=1&fieldSelector=spec.none%3D1",
        "watch=1&timeoutSeconds=x",
        "watch=1&sendInitialEvents=maybe",
        "watch=1&resourceVersionMatch=NotOlderThan",
        "sendInitialEvents=true",
        "allowWatchBookmarks=maybe&labelSelector=none",
        "shardSelector=odd&labelSelector=none",
        "pretty=maybe&labelSelector=none",
    ):
        ask.get(f"{path}?{query}")
    ask.get(f"{about.none}?resourceVersion=abc")


def bad_creates(about):
    ask, path, kind = about.ask, about.path, about.kind
    typed = {"apiVersion": kind.api_version, "kind": kind.kind}
    for body in (
        {},
        typed,
        {"metadata": {}},
        {"metadata": {"name": "x"}},
        {**about.body(), "kind": "Odd"},
        {**about.body(), "kind": "Binding", "apiVersion": "v1"},
        {**about.body(), "apiVersion": "v9"},
        {**about.body(), "apiVersion": f"{kind.group or 'odd'}/v9"},
        {**about.body(), "apiVersion": "a/b/c"},
        about.body(name="Bad_Name"),
        about.body(name="x" * 254),
        about.body(name="a/b"),
        about.body(namespace="elsewhere"),
        about.body(labels={"a b": "c"}),
        {**about.body(), "metadata": "odd"},
        {**about.body(), "metadata": None},
        {**about.body(), "odd": 1},
    ):
        ask.create(f"{path}?dryRun=All", body)
    if not is_definition(kind):  # the same causes, in another order
        ask.create(f"{path}?dryRun=All", about.body(name="", generateName="Bad_Name-"))
    ask.create(path, about.body(resourceVersion="5"))
    ask.create(f"{path}?dryRun=All&fieldValidation=Strict", {**about.body(), "odd": 1})
    for query in ("dryRun=bad", "dryRun=", "fieldValidation=Odd", f"fieldManager={'x' * 129}"):
        ask.create(f"{path}?{query}", about.body())
    ask.create(f"{path}?dryRun=All&fieldManager=a%0Ab", about.body())
    for body in (b"", b"{", b"[]", b"1", b'"x"', b"null", b"\xff", b'{"metadata": {}'):
        ask("POST", f"{path}?dryRun=All", body)
    ask("POST", f"{path}?dryRun=All", b"a: [", "application/yaml")
    ask("POST", f"{path}?dryRun=All", b"- a", "application/yaml")
    ask("POST", f"{path}?dryRun=All", b"{}", "text/plain")
    ask("POST", f"{path}?dryRun=All", b"{}", "application/xml")
    ask("POST", f"{path}?dryRun=All", b"odd", "application/vnd.kubernetes.protobuf")
    ask("POST", f"{path}?dryRun=All", about.body(), accept="application/xml")
    ask("POST", about.none, about.body())
    ask("PUT", path, about.body())


PATCHES = {
    JSON_PATCH: [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}],
    MERGE: {"metadata": {"labels": {"a": "b"}}},
    STRATEGIC: {"metadata": {"labels": {"a": "b"}}},
}


def bad_patches(about, path):
    """Of an object that is there or is not."""
    ask = about.ask
    for content, change in PATCHES.items():
        ask.patch(f"{path}?dryRun=All", change, content)
        ask.patch(f"{path}?dryRun=bad", change, content)
        ask.patch(f"{path}?force=true", change, content)
        for body in (b"", b"{", b"1", b"{}", b"[]", b'[{"op": "odd"}]', b'{"metadata": 1}'):
            ask("PATCH", f"{path}?dryRun=All", body, content)
    ask.patch(path, {}, JSON)
    ask.patch(path, {}, None)
    ask.patch(path, {}, "text/plain")


def bad_applies(about, path):
    ask = about.ask
    body = about.body(name=path.rpartition("/")[2])
    ask.patch(path, body, APPLY)
    applied = f"{path}?dryRun=All&fieldManager=me"
    for change in (
        {},
        {**body, "kind": "Odd"},
        {**body, "apiVersion": "v9"},
        {**body, "metadata": {"name": "other"}},
        {**body, "metadata": {"name": "other", "managedFields": []}},
        {**body, "odd": 1},
        [],
    ):
        ask.patch(applied, change, APPLY)
    ask("PATCH", applied, b"", APPLY)
    ask("PATCH", applied, b"a: [", APPLY)


def bad_puts(about):
    ask = about.ask
    ask.put(f"{about.one}?dryRun=All", about.body(name="other"))
    ask.put(f"{about.one}?dryRun=All", about.body(name=""))
    ask.put(f"{about.one}?dryRun=All", about.body(resourceVersion="1"))
    ask.put(f"{about.one}?dryRun=All", about.body(resourceVersion="abc"))
    ask.put(f"{about.one}?dryRun=All", about.body(uid="other"))
    ask.put(f"{about.one}?dryRun=All", about.body(namespace="elsewhere"))
    ask.put(f"{about.one}?dryRun=bad", about.body())
    ask.put(f"{about.one}?dryRun=All", {**about.body(), "kind": "Odd"})
    ask.put(f"{about.one}?dryRun=All", {})
    ask.put(f"{about.none}?dryRun=All", about.body(name="none"))
    ask.put(about.none, about.body(name="none", uid="some"))
    ask.put(about.none, about.body(name="none", resourceVersion="5"))
    ask.delete(about.none)


def bad_deletes(about):
    ask, path = about.ask, about.path
    ask.delete(about.none)
    ask.delete(about.none, {"propagationPolicy": "Odd"})
    chosen = f"{path}?labelSelector=none"
    # A definition goes with its objects, here at once: there is nothing to show on the way.
    for target in (chosen,) if is_definition(about.kind) else (chosen, f"{about.one}?pretty=0"):
        for options in (
            {"propagationPolicy": "Odd"},
            {"gracePeriodSeconds": "x"},
            {"gracePeriodSeconds": -5, "dryRun": ["All"]},
            {"dryRun": ["bad"]},
            {"dryRun": "All"},
            {"orphanDependents": True, "propagationPolicy": "Foreground"},
            {"orphanDependents": "x"},
            {"preconditions": []},
            {"preconditions": {"uid": 5}},
            {"kind": "Odd", "apiVersion": "v1"},
            {"kind": "DeleteOptions", "apiVersion": "v9", "dryRun": ["All"]},
            {"odd": 1, "dryRun": ["All"]},
            [],
        ):
            ask.delete(target, options)
        for query in (
            "dryRun=bad",
            "propagationPolicy=Odd",
            "gracePeriodSeconds=x",
            "orphanDependents=maybe&dryRun=All",
        ):
            ask.delete(f"{target}&{query}")
        ask("DELETE", target, b"{", JSON)
        ask("DELETE", target, b"{}", "text/plain")
    ask.delete(about.one, {"preconditions": {"uid": "other"}})
    ask.delete(about.one, {"preconditions": {"resourceVersion": "1"}})
    ask.delete(f"{path}?labelSelector=a%20b")
    ask.delete(f"{path}?fieldSelector=spec.none%3D1")
    ask.delete(f"{path}?resourceVersion=abc&labelSelector=none")
    ask.delete(f"{path}?limit=x&labelSelector=none")


def reads(about):
    ask = about.ask
    for accept in (JSON, TABLE, PARTIAL_LIST):
        ask.get(f"{about.path}?{CHOSEN}", accept=accept)
    ask.get(f"{about.path}?{CHOSEN}&includeObject=None", accept=TABLE)
    for accept in (JSON, TABLE, PARTIAL):
        ask.get(about.one, accept=accept)
    ask.get(f"{about.path}?{CHOSEN}&limit=2")


def bad_subresources(about):
    ask = about.ask
    for method, body in (("GET", None), ("PUT", {}), ("POST", {}), ("DELETE", None)):
        ask(method, f"{about.one}/nothing", body)
    for part in about.kind.subresources:
        if part in ("status", "scale"):
            ask.get(f"{about.none}/{part}")
            ask.put(f"{about.none}/{part}", {})
            ask.put(f"{about.one}/{part}", {})
            ask.put(f"{about.one}/{part}?dryRun=bad", about.body())
            ask.patch(f"{about.none}/{part}", {}, MERGE)
            ask.patch(f"{about.one}/{part}", {}, "text/plain")
            ask("POST", f"{about.one}/{part}", {})
            ask("DELETE", f"{about.one}/{part}")


def sweep(ask, kind):
    about = About(ask, kind)
    bad_reads(about)
    bad_creates(about)
    bad_patches(about, about.none)
    bad_applies(about, about.none)
    ask.create(about.path, about.body())
    if is_definition(kind):
        wait_until_established(ask, about.one)
    reads(about)
    ask.create(about.path, about.body())
    bad_patches(about, about.one)
    bad_applies(about, about.one)
    bad_puts(about)
    bad_subresources(about)
    bad_deletes(about)
    ask.delete(f"{about.path}?{CHOSEN}")
    clean_up(about)


def is_definition(kind):
    return kind.kind == "CustomResourceDefinition"


def clean_up(about):
    """What deleting left: definitions go with their objects, namespaces when somebody says so."""
    side = about.ask.side
    free = json.dumps({"metadata": {"finalizers": None}}).encode()
    side.request("PATCH", about.one, free, **{"Content-Type": MERGE})
    side.request("DELETE", about.one, b'{"propagationPolicy": "Background"}')
    if about.kind.kind == "Namespace":
        emptied = {"metadata": {"name": "sample"}, "spec": {"finalizers": []}}
        side.request("PUT", f"{about.one}/finalize", json.dumps(emptied).encode())


def _script(kind):
    script = functools.partial(sweep, kind=kind)
    script.since = kind.since
    script.__name__ = f"sweep_{kind.plural}_{kind.group.partition('.')[0] or 'core'}_{kind.version}"
    return script


ALL = tuple(map(_script, KINDS))
