"""The requests of the fuzz: mostly sensible ones, a little broken."""

import json
import random
from dataclasses import dataclass, field

METHODS = ["GET"] * 4 + ["POST"] * 5 + ["PUT"] * 3 + ["PATCH"] * 5 + ["DELETE"] * 2 + ["OPTIONS"]
NAMES = ["a", "b", "c", "default", "node-1", "", "Not_Valid", "x" * 300, "a%2Fb", "%00", "%C3%BC"]
NAMESPACES = ["default"] * 8 + ["kube-system", "team", "gone", "Bad_Name"]
CONTENT_TYPES = [
    "application/json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
    "",
]
PATCHES = [one for one in CONTENT_TYPES if "patch" in one]
ACCEPTS = [
    "application/json",
    "*/*",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "nonsense",
]
QUERIES = {
    "labelSelector": [
        "app=web",
        "app in (a,b)",
        "!x",
        "app in (",
        "=",
        "a b",
        ",",
        "a==b=c",
        "x>1",
    ],
    "fieldSelector": [
        "metadata.name=a",
        "spec.nodeName=",
        "status.phase!=Running",
        "what=ever",
        "x",
    ],
    "limit": ["1", "2", "0", "-1", "abc", "99999999999999999999"],
    "continue": ["abc", "e30", "eyJydiI6MSwic3RhcnQiOlsiIiwiYSJdfQ"],
    "resourceVersion": ["0", "1", "5", "999999999", "-3", "abc"],
    "resourceVersionMatch": ["Exact", "NotOlderThan", "Never"],
    "dryRun": ["All", "Some", ""],
    "fieldManager": ["fuzz", "other", "x" * 200, ""],
    "fieldValidation": ["Strict", "Warn", "Ignore", "Maybe"],
    "force": ["true", "false", ""],
    "gracePeriodSeconds": ["0", "5", "x"],
    "propagationPolicy": ["Foreground", "Background", "Orphan", "Sideways"],
    "includeObject": ["Object", "None", "Metadata", "All"],
    "pretty": ["true"],
}
WATCH_QUERIES = {
    "resourceVersion": ["", "0", "1", "5", "20", "999999999", "-3", "abc", "99999999999999999999"],
    "labelSelector": QUERIES["labelSelector"],
    "fieldSelector": QUERIES["fieldSelector"],
    "sendInitialEvents": ["true", "false", "", "maybe"],
    "resourceVersionMatch": ["NotOlderThan", "NotOlderThan", "Exact", "Never"],
    "allowWatchBookmarks": ["true", "false", "x"],
    "limit": QUERIES["limit"],
    "continue": QUERIES["continue"],
    "includeObject": QUERIES["includeObject"],
}
TABLES = [
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=Table;v=v2;g=meta.k8s.io",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
]
SUBRESOURCES = [
    "status",
    "scale",
    "binding",
    "eviction",
    "finalize",
    "log",
    "exec",
    "token",
    "nope",
]
ODD = ["", " ", "a", "1", 0, 1, -1, 2**40, 2**70, 1.5, True, None, [], {}, ["a"], {"a": 1}, "é\n"]
GARBAGE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"a: b: c",
    b"[" * 5000,
    b'{"a":' * 400,
    b"k8s\x00xx",
    b'{"metadata":{"name":"\\ud800"}}',
    b'{"metadata":{"name":"a","name":"b"}}',
]

CONTAINER = {
    "name": "c",
    "image": "nginx:1",
    "resources": {"requests": {"cpu": "100m"}},
    "ports": [{"containerPort": 80}],
}
POD_SPEC = {"containers": [CONTAINER], "tolerations": [{"key": "x", "operator": "Exists"}]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": POD_SPEC}
WORKLOAD = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}
SPECS = {
    "pods": {"spec": POD_SPEC, "status": {"phase": "Running"}},
    "nodes": {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}, "status": {}},
    "deployments": {"spec": WORKLOAD},
    "replicasets": {"spec": WORKLOAD},
    "jobs": {"spec": {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}},
    "services": {"spec": {"ports": [{"port": 80}], "selector": {"app": "web"}}},
    "configmaps": {"data": {"a": "b"}},
    "secrets": {"stringData": {"a": "b"}},
    "poddisruptionbudgets": {"spec": {"minAvailable": 1, "selector": {"matchLabels": {}}}},
    "priorityclasses": {"value": 5},
    "events": {"involvedObject": {"kind": "Pod", "name": "a"}, "reason": "Fuzz", "message": "m"},
    "customresourcedefinitions": {
        "spec": {
            "group": "example.com",
            "names": {"kind": "Foo", "plural": "foos"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        }
    },
}


@dataclass
class FuzzRequest:
    """One request."""

    method: str
    path: str
    query: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_watch(self):
        return "timeoutSeconds" in self.query


class RequestGenerator:
    """Makes requests: mostly sensible ones, a little broken."""

    def __init__(self, seed, kinds):
        self.random = random.Random(seed)
        self.kinds = list(kinds)
        self.kinds += [kind for kind in self.kinds if kind.plural in SPECS] * 4

    def next(self):
        pick = self.random.choice
        kind = pick(self.kinds)
        method = pick(METHODS)
        if method == "GET" and self.random.random() < 0.25:
            return self.watch(kind)
        path = self.path(kind, method)
        query = {name: pick(QUERIES[name]) for name in self.some(list(QUERIES))}
        headers = {"Accept": self.accept()}
        body = b""
        if method in ("POST", "PUT", "PATCH", "DELETE") and self.random.random() < 0.95:
            headers["Content-Type"] = pick(CONTENT_TYPES)
            if self.random.random() < 0.9:
                headers["Content-Type"] = pick(PATCHES) if method == "PATCH" else "application/json"
            body = self.body(kind, method, headers["Content-Type"])
        if not headers.get("Content-Type"):
            headers.pop("Content-Type", None)
        return FuzzRequest(method, path, query, headers, body)

    def watch(self, kind):
        """A watch that ends by itself, or one that the client leaves."""
        pick = self.random.choice
        query = {name: pick(WATCH_QUERIES[name]) for name in self.some(list(WATCH_QUERIES))}
        query["timeoutSeconds"] = pick(["1"] * 6 + ["2", "3", "0", "-1", "x", "99999999"])
        path = self.path(kind, "GET")
        if self.random.random() < 0.7:
            path = f"{kind.prefix}/{kind.plural}"
        if self.random.random() < 0.1:
            return FuzzRequest("GET", path.replace("/v1/", "/v1/watch/", 1), query)
        return FuzzRequest(
            "GET", path, {"watch": pick(["true", "1", "", "t"]), **query}, {"Accept": self.accept()}
        )

    def accept(self):
        odds = self.random.random()
        if odds < 0.2:
            return self.random.choice(TABLES)
        return self.random.choice(ACCEPTS) if odds < 0.4 else "application/json"

    def some(self, names):
        count = self.random.choice([0, 0, 0, 0, 0, 1, 1, 2, 3])
        return self.random.sample(names, count)

    def path(self, kind, method):
        pick = self.random.choice
        if self.random.random() < 0.04:
            return pick(
                ["/", "/api", "/apis/nope", "/api/v2/pods", "/openapi/v3/x", "//", "/healthz"]
            )
        inside = f"/namespaces/{pick(NAMESPACES)}" if kind.namespaced else ""
        if self.random.random() < 0.05:
            inside = "" if inside else "/namespaces/default"
        if inside and self.random.random() < 0.6:
            inside = "/namespaces/default"
        path = f"{kind.prefix}{inside}/{kind.plural}"
        if method == "POST" and self.random.random() < 0.7:
            return path
        if method in ("PUT", "PATCH") or self.random.random() < 0.6:
            path += f"/{pick(NAMES[:5]) if self.random.random() < 0.8 else pick(NAMES)}"
            if self.random.random() < 0.25:
                own = kind.subresources if self.random.random() < 0.8 else ()
                path += f"/{pick(own or SUBRESOURCES)}"
        return path

    def body(self, kind, method, content_type):
        if self.random.random() < 0.08:
            return self.random.choice(GARBAGE)
        if content_type == "application/json-patch+json":
            return json.dumps([self.operation() for _ in range(self.random.randrange(4))]).encode()
        obj = self.object(kind)
        for _ in range(self.random.choice([0, 0, 0, 1, 2, 5])):
            obj = self.mutated(obj)
        return json.dumps(obj).encode()

    def object(self, kind):
        name = self.random.choice(NAMES[:5])
        if kind.plural == "customresourcedefinitions":
            name = "foos.example.com"
        meta = {"name": name, "labels": {"app": "web"}}
        base = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
        return json.loads(json.dumps({**base, **SPECS.get(kind.plural, {"spec": {}})}))

    def mutated(self, value):
        """The value with something odd at a random place."""
        pick = self.random.choice
        if isinstance(value, dict) and value and self.random.random() < 0.85:
            key = pick(list(value))
            action = self.random.random()
            if action < 0.1:
                return {k: v for k, v in value.items() if k != key}
            if action < 0.2:
                return {**value, pick(["extra", "$patch", "finalizers", "uid", "x/y"]): pick(ODD)}
            return {**value, key: self.mutated(value[key])}
        if isinstance(value, list) and value and self.random.random() < 0.85:
            at = self.random.randrange(len(value))
            return [*value[:at], self.mutated(value[at]), *value[at + 1 :]]
        return pick(ODD)

    def operation(self):
        pick = self.random.choice
        paths = [
            "/metadata/labels/x",
            "/spec/replicas",
            "/spec/containers/0/image",
            "/x/y",
            "",
            "bad",
        ]
        return {
            "op": pick(["add", "remove", "replace", "move", "copy", "test", "jump"]),
            "path": pick(paths),
            "from": pick(paths),
            "value": pick(ODD),
        }
