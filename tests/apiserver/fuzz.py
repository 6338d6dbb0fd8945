"""A seeded fuzz of the API server over HTTP: whatever comes, a proper answer goes back.

``python -m tests.apiserver.fuzz 20000 [seed]`` runs it by itself.
"""

import asyncio
import json
import random
import sys
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock

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
TWO_BUDGETS = "more than one PodDisruptionBudget"


@dataclass
class Shot:
    """One request."""

    method: str
    path: str
    query: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    body: bytes = b""


class Gun:
    """Makes requests: mostly sensible ones, a little broken."""

    def __init__(self, seed, kinds):
        self.random = random.Random(seed)
        self.kinds = list(kinds)
        self.kinds += [kind for kind in self.kinds if kind.plural in SPECS] * 4

    def shot(self):
        pick = self.random.choice
        kind = pick(self.kinds)
        method = pick(METHODS)
        path = self.path(kind, method)
        query = {name: pick(QUERIES[name]) for name in self.some(list(QUERIES))}
        headers = {"Accept": pick(ACCEPTS) if self.random.random() < 0.3 else "application/json"}
        body = b""
        if method in ("POST", "PUT", "PATCH", "DELETE") and self.random.random() < 0.95:
            headers["Content-Type"] = pick(CONTENT_TYPES)
            if self.random.random() < 0.9:
                headers["Content-Type"] = pick(PATCHES) if method == "PATCH" else "application/json"
            body = self.body(kind, method, headers["Content-Type"])
        if not headers.get("Content-Type"):
            headers.pop("Content-Type", None)
        return Shot(method, path, query, headers, body)

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


def problem(shot, status, media, body):
    """What is wrong with an answer; empty when it is as it should be."""
    if status == 500 and TWO_BUDGETS.encode() in body:
        return ""
    if status >= 500 and status != 504:
        return f"{status}"
    if status < 400 or shot.method == "HEAD":
        return ""
    try:
        found = json.loads(body)
    except ValueError:
        return f"{status} without a Status: {body[:100]!r}"
    if found.get("kind") != "Status" or found.get("code") != status or not found.get("reason"):
        return f"{status} with {found}"
    return ""


async def fire(count, seed):
    """Run the fuzz; returns what went wrong, and how often each code came."""
    api = new_api(LoopClock(), history=200, seed=seed)
    gun = Gun(seed, api.kinds)
    api.create(api.kind("namespaces"), "", {"metadata": {"name": "team"}}, Call())
    failures, codes = [], {}
    timeout = aiohttp.ClientTimeout(total=20)
    async with EmbeddedServer(api) as server, aiohttp.ClientSession(timeout=timeout) as session:
        for number in range(count):
            shot = gun.shot()
            status, media, body = await send(session, server.url, shot)
            codes[status] = codes.get(status, 0) + 1
            if wrong := problem(shot, status, media, body):
                failures.append((number, shot, wrong))
            if number % 200 == 0:
                api.store.check_invariants()
        api.store.check_invariants()
    return failures, codes


async def send(session, url, shot):
    target = URL(url + shot.path, encoded=True).with_query(shot.query)
    async with session.request(
        shot.method,
        target,
        data=shot.body,
        headers=shot.headers,
        skip_auto_headers=["Content-Type"],
    ) as response:
        return response.status, response.headers.get("Content-Type", ""), await response.read()


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failures, codes = asyncio.run(fire(count, seed))
    print(f"{count} requests, seed {seed}: {dict(sorted(codes.items()))}")
    for number, shot, wrong in failures[:8]:
        print(f"#{number} {shot.method} {shot.path} {shot.query} {shot.headers}")
        print(f"  {shot.body[:300]!r}")
        print(f"  {wrong}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
