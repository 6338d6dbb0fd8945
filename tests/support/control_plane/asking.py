"""A script's side of a comparison: it asks one server, and every answer is kept in normal form."""

import json
from dataclasses import dataclass, field

from tests.support.control_plane.normal import differences, normal
from tests.support.control_plane.sides import Side

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


@dataclass
class Ask:
    """Requests of one script to one server, in a namespace of the script's own."""

    side: Side
    namespace: str
    answers: list = field(default_factory=list)

    def core(self, rest=""):
        return f"/api/v1/namespaces/{self.namespace}/{rest}"

    def group(self, version, rest):
        return f"/apis/{version}/namespaces/{self.namespace}/{rest}"

    def apps(self, rest):
        return self.group("apps/v1", rest)

    def __call__(self, method, path, body=None, content=JSON, accept=JSON):
        """Ask and keep the answer; returns the body as it came."""
        data = (
            body
            if isinstance(body, bytes | None)
            else json.dumps(body, separators=(",", ":")).encode()
        )
        headers = {"Accept": accept, "User-Agent": "script/1.0"}
        if data is not None and content is not None:
            headers["Content-Type"] = content
        code, parsed, warnings = self.side.request(method, path, data, **headers)
        kept = {"code": code, "body": parsed, "warnings": warnings}
        self.answers.append((f"{method} {path}", normal(kept)))
        return parsed

    def get(self, path, accept=JSON):
        return self("GET", path, accept=accept)

    def create(self, path, body):
        return self("POST", path, body)

    def put(self, path, body):
        return self("PUT", path, body)

    def patch(self, path, body, content):
        return self("PATCH", path, body, content)

    def apply(self, path, body, manager, force=False):
        more = "&force=true" if force else ""
        return self("PATCH", f"{path}?fieldManager={manager}{more}", body, APPLY)

    def delete(self, path, options=None):
        return self("DELETE", path, options)

    def watch(self, path, count):
        """The first ``count`` events of a watch."""
        code, events = self.side.events(path, count)
        self.answers.append((f"WATCH {path}", normal({"code": code, "events": events})))
        return events


def compare(script, ours, theirs):
    """Run a script against both servers: how many answers, and where they differ."""
    asks = [Ask(side, script.__name__.replace("_", "-")) for side in (ours, theirs)]
    for ask in asks:
        namespace = {"metadata": {"name": ask.namespace}}
        ask.side.request("POST", "/api/v1/namespaces", json.dumps(namespace).encode())
        script(ask)
    return len(asks[0].answers), all_differences(*(ask.answers for ask in asks))


def all_differences(ours, theirs):
    return [
        f"{at}: {step}\n    {line}"
        for at, ((step, one), (_, other)) in enumerate(zip(ours, theirs, strict=True))
        if not _is_better_refused(one, other)
        for line in differences(one, other)
    ]


def _is_better_refused(ours, theirs):
    """podium never answers 500 to a fault of the request, and every refusal of it is a Status."""
    is_text = isinstance(theirs.get("body"), str) and theirs["code"] == ours["code"] == 404
    return is_text or (theirs["code"] == 500 and ours["code"] in (400, 422))
