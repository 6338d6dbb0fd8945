"""A stage for stories about pod groups, and how both schedulers play them."""

import contextlib
import re

import pytest

from podium.release import V1_37
from tests.support.control_plane import shipped, sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import USER, kube_scheduler
from tests.support.control_plane.stage import PRIORITIES, Stage

PODS = ("p1", "p2", "p3")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
NODE = re.compile(r" n\d$")
WORKLOAD = {"workloadName": "work", "templateName": "part"}
SHAPE = {"requests": {"cpu": "1"}}
GATE = [{"name": "wait"}]


class GroupStage(Stage):
    @property
    def groups(self):
        return f"/apis/scheduling.k8s.io/v1beta1/namespaces/{self.namespace}/podgroups"

    @property
    def composites(self):
        return f"/apis/scheduling.k8s.io/v1alpha3/namespaces/{self.namespace}/compositepodgroups"

    def group(self, name="gang", min_count=None, **spec):
        policy = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
        return self._create(self.groups, name, policy, **spec)

    def composite(self, name="root", min_groups=None, **spec):
        policy = {"basic": {}} if min_groups is None else {"gang": {"minGroupCount": min_groups}}
        return self._create(self.composites, name, policy, workloadRef=WORKLOAD, **spec)

    def _create(self, path, name, policy, mode=None, parent=None, **spec):
        body = {"schedulingPolicy": policy, **spec}
        if mode:
            body["disruptionMode"] = {mode: {}}
        if parent:
            body |= {"parentCompositePodGroupName": parent, "workloadRef": WORKLOAD}
        return self.create(path, {"metadata": {"name": name}, "spec": body})

    def members(self, *names, of="gang", **spec):
        for name in names:
            self.pod(name, **{**SHAPE, "schedulingGroup": {"podGroupName": of}, **spec})

    def together(self, first, *others, **spec):
        """Members of which one is gated until all are there: so no attempt sees only some."""
        self.members(first, schedulingGates=GATE, **spec)
        self.members(*others, **spec)
        self.ungate(first)

    def ungate(self, *names):
        for name in names:
            self.patch(self.core(f"pods/{name}"), {"spec": {"schedulingGates": None}})

    def require(self, min_count, of="gang"):
        policy = {"gang": {"minCount": min_count}}
        self.patch(f"{self.groups}/{of}", {"spec": {"schedulingPolicy": policy}})

    def remove_group(self, name="gang"):
        """Delete a group at once, as its protection ends when no pod uses it."""
        self.patch(f"{self.groups}/{name}", {"metadata": {"finalizers": None}})
        self.delete(f"{self.groups}/{name}")

    def bind(self, name, node):
        """Bind a pod as another scheduler does."""
        body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self._request("POST", self.core(f"pods/{name}/binding"), body)

    def priorities(self, **values):
        for name, value in values.items():
            self.create(PRIORITIES, {"metadata": {"name": name}, "value": value})

    def single(self, name="single", **spec):
        """A pod that is bound when this returns: what came before has been seen."""
        self.pod(name, **{"requests": {}, **spec})
        self.until_bound(name)

    def until_scheduled(self, *names):
        for name in names or ("gang",):
            self.until_group(lambda each: each["status"] == "True", name)

    def until_rejected(self, *names):
        for name in names or ("gang",):
            self.until_group(lambda each: each["status"] == "False", name)

    def condition(self, name="gang"):
        status = self.get(f"{self.groups}/{name}").get("status", {})
        return [
            tuple(each[key] for key in ("type", "status", "reason", "message"))
            for each in status.get("conditions", [])
        ]

    def until_group(self, is_so, name="gang"):
        def has(group):
            found = group.get("status", {}).get("conditions", [])
            return any(is_so(each) for each in found)

        self.until(self.groups, name, has)

    def until_failed(self, *names):
        """Wait for the events and the conditions: schedulers write them side by side."""
        for name in names:
            super().until_failed(name)

    def tell(self, *names):
        """What became of pods; among equal nodes each scheduler chooses at random."""
        found = {}
        for name in names:
            told = self.outcome(name)
            if told["node"]:
                self.until_told(name, "Scheduled")  # events are written in the background
            notes = []
            for _, kind, reason, action, note in self.told(name):
                notes.append((kind, reason, action, UID.sub("UID", NODE.sub(" n", note))))
            told["node"], told["nominated"] = bool(told["node"]), bool(told["nominated"])
            found[name] = (told, sorted(set(notes)))
        return found

    def evicted(self, *names):
        """What victims are told. Then they leave, as their kubelets would let them."""
        for name in names:
            self.until_told(name, "Preempted")
        found = {}
        for name in names:
            pod = self.get(self.core(f"pods/{name}"))
            targets = [
                (each["status"], each["reason"], each["message"])
                for each in pod["status"]["conditions"]
                if each["type"] == "DisruptionTarget"
            ]
            notes = self.tell(name)[name][1]
            found[name] = targets, [each for each in notes if each[1] == "Preempted"]
        for name in names:
            self.delete(self.core(f"pods/{name}"))
        return found

    def clear_all(self):
        for each in self.get(self.core("pods"))["items"]:
            self.delete(self.core(f"pods/{each['metadata']['name']}"))
        for each in self.get(self.groups)["items"]:
            name = each["metadata"]["name"]
            self.patch(f"{self.groups}/{name}", {"metadata": {"finalizers": None}})
        self.clear()


@contextlib.contextmanager
def scheduled(binaries, gates, start):
    versions = ",".join(f"scheduling.k8s.io/{each}=true" for each in ("v1beta1", "v1alpha3"))
    api = (f"--runtime-config={versions}", gates)
    with ControlPlane(binaries, api) as plane:
        side = sides.real(plane)
        with start(plane, side):
            yield side


def told(side, stories):
    found = {}
    for story in stories:
        stage = GroupStage(side, story.__name__.replace("_", "-"))
        found[story.__name__] = story(stage)
        stage.clear_all()
    return found


def expected_and_found(binaries, podium, folder, gates, stories):
    """What kube-scheduler and podium make of these stories, with these gates."""
    if binaries.release < V1_37:
        pytest.skip("pod groups are implemented as of 1.37")

    def theirs(plane, side):
        try:
            return kube_scheduler(binaries, folder, plane.kubeconfig_for(USER), gates)
        except NoControlPlane as missing:
            pytest.skip(str(missing))

    def ours(plane, side):
        return podium(folder, shipped.install(plane, side), gates)

    with scheduled(binaries, gates, theirs) as side:
        expected = told(side, stories)
    with scheduled(binaries, gates, ours) as side:
        return expected, told(side, stories)
