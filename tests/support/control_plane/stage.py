"""Where a story of scheduling is played: nodes and pods of its own, and what became of them.

There are no kubelets and no controllers: whoever plays there is both. Waiting is reading a watch.
"""

import json

from tests.support.control_plane.comparison import JSON, STRATEGIC

NODES = "/api/v1/nodes"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"

_AT_ONCE = {"gracePeriodSeconds": 0}


class Stage:
    """One side for the time of a story; ``clear`` leaves nothing behind but the namespace."""

    def __init__(self, side, namespace):
        self.side = side
        self.namespace = namespace
        self._made = []
        self._request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})

    # --- requests --------------------------------------------------------------------------------

    def core(self, rest):
        return f"/api/v1/namespaces/{self.namespace}/{rest}"

    def get(self, path):
        return self._request("GET", path)

    def create(self, path, body):
        made = self._request("POST", path, body)
        self._made.append(f"{path}/{made['metadata']['name']}")
        return made

    def patch(self, path, body, content=STRATEGIC):
        return self._request("PATCH", path, body, content)

    def delete(self, path):
        """At once, as a kubelet does it in the end."""
        code, answer, _ = self._ask("DELETE", path, _AT_ONCE)
        assert code in (200, 404), answer

    def clear(self):
        for path in reversed(self._made):
            self.delete(path)

    def _request(self, method, path, body=None, content=JSON):
        code, answer, _ = self._ask(method, path, body, content)
        assert code < 300, answer
        return answer

    def _ask(self, method, path, body=None, content=JSON):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": JSON, "Content-Type": content}
        return self.side.request(method, path, data, **headers)

    # --- what happens ----------------------------------------------------------------------------

    def nodes(self, *names, **status):
        """Nodes that are ready, and known to the scheduler when this returns."""
        self.ready_nodes(*names, **status)
        for name in names:
            self.pod("probe", nodeSelector={"kubernetes.io/hostname": name}, requests={})
            self.until_bound("probe")
            self.delete(self.core("pods/probe"))

    def ready_nodes(self, *names, **status):
        for name in names:
            self.create(NODES, node(name, **status))
            # An API server taints new nodes until somebody finds them ready.
            self.patch(f"{NODES}/{name}", {"spec": {"taints": None}})

    def pod(self, name, labels=None, requests=None, **spec):
        resources = {"requests": {"cpu": "100m"} if requests is None else requests}
        containers = [{"name": "c", "image": "app:1", "resources": resources}]
        metadata = {"name": name, "labels": labels or {}}
        return self.create(
            self.core("pods"), {"metadata": metadata, "spec": {"containers": containers, **spec}}
        )

    def until(self, path, name, is_so):
        """Wait for an object of a collection to be so; returns it."""
        found = []

        def is_wanted(obj):
            if obj["metadata"]["name"] == name and is_so(obj):
                found.append(obj)
            return bool(found)

        self.side.wait_for(path, is_wanted)
        return found[0]

    def until_bound(self, *names):
        for name in names:
            self.until(self.core("pods"), name, lambda pod: pod["spec"].get("nodeName"))

    def until_told(self, name, reason):
        """Wait for an event about a pod; returns what it says."""
        path = f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events"
        found = []

        def is_wanted(event):
            if event["regarding"]["name"] == name and event["reason"] == reason:
                found.append(event["note"])
            return bool(found)

        self.side.wait_for(path, is_wanted)
        return found[0]

    def until_failed(self, name):
        """Wait for the event and the condition of a failed attempt; returns what the event says."""
        note = self.until_told(name, "FailedScheduling")
        self.until(self.core("pods"), name, lambda pod: pod["status"].get("conditions"))
        return note

    # --- what became of it -----------------------------------------------------------------------

    def outcome(self, name):
        """A pod's node, nomination and condition, once its events are there."""
        pod = self.get(self.core(f"pods/{name}"))
        conditions = pod["status"].get("conditions", [])
        scheduled = [each for each in conditions if each["type"] == "PodScheduled"]
        return {
            "node": pod["spec"].get("nodeName"),
            "nominated": pod["status"].get("nominatedNodeName"),
            "conditions": [
                " ".join(each[key] for key in ("status", "reason", "message") if each.get(key))
                for each in scheduled
            ],
        }

    def told(self, name):
        """All that events say about a pod, each thing once: how often it is tried is up to time."""
        path = f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events"
        return sorted(
            {
                (each["reportingController"], each["type"], each["reason"], each["action"], note)
                for each in self.get(path)["items"]
                if each["regarding"]["name"] == name
                for note in [each["note"]]
            }
        )


def node(name, cpu="4", **labels):
    amounts = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
