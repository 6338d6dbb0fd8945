"""A real control plane whose requests can be read afterwards, in its audit log."""

import contextlib
import json

from tests.support.control_plane import sides
from tests.support.control_plane.plane import ControlPlane

RBAC = "/apis/rbac.authorization.k8s.io/v1"
AUTHORITIES = "extension-apiserver-authentication-reader"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [{"level": "Metadata", "omitStages": ["RequestReceived"]}],
}
_CORE = (
    "nodes pods namespaces services replicationcontrollers persistentvolumes "
    "persistentvolumeclaims configmaps"
)
READABLE = {
    "": _CORE.split(),
    **{
        group: ["*"]
        for group in (
            "apps",
            "batch",
            "policy",
            "node.k8s.io",
            "storage.k8s.io",
            "scheduling.k8s.io",
            "resource.k8s.io",
        )
    },
}


class AuditedPlane:
    """A control plane whose requests can be read afterwards, and users with chosen rights."""

    def __init__(self, plane, log):
        self.plane = plane
        self.side = sides.real(plane)
        self._log = log

    def requests(self, user):
        lines = self._log.read_text().splitlines()
        events = map(json.loads, filter(lambda line: line.endswith("}"), lines))
        return [event for event in events if event["user"]["username"] == user]

    def all_refused(self, user):
        return [event for event in self.requests(user) if event["responseStatus"]["code"] == 403]

    def refused(self, user, resource):
        """But for watches: a list is asked for as a watch first, and then in pages at once."""
        return [
            event
            for event in self.all_refused(user)
            if event["objectRef"]["resource"] == resource and event["verb"] != "watch"
        ]

    def user_without(self, user, *rights):
        """kube-scheduler's rights but some: on "pods", or to "delete pods". Gives a kubeconfig."""
        bound = ["system:kube-scheduler", "system:volume-scheduler"]
        for role in bound:
            rules = self._ask("GET", f"clusterroles/{role}")["rules"]
            kept = [without(rule, rights) for rule in rules]
            name = f"{user}:{role}"
            body = {"metadata": {"name": name}, "rules": [each for each in kept if each]}
            self._ask("POST", "clusterroles", body)
            reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
            binding = {
                "metadata": {"name": name},
                "roleRef": {**reference, "name": name},
                "subjects": [{"kind": "User", "name": user}],
            }
            self._ask("POST", "clusterrolebindings", binding)
        self._let_read_authorities(user)
        return self.plane.kubeconfig_for(user)

    def _let_read_authorities(self, user):
        """kube-scheduler's right to the ConfigMap with the authorities of client certificates."""
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": AUTHORITIES}
        binding = {
            "metadata": {"name": f"{user}-reads-authorities"},
            "roleRef": role,
            "subjects": [{"kind": "User", "name": user}],
        }
        self._ask("POST", "namespaces/kube-system/rolebindings", binding)

    def reader(self, user, *, verbs=("get", "list"), without=()):
        """A user who may get and list everything but secrets. Gives a kubeconfig."""
        rules = [
            {"apiGroups": [group], "resources": resources, "verbs": list(verbs)}
            for group, resources in READABLE.items()
            if group not in without
        ]
        self._ask("POST", "clusterroles", {"metadata": {"name": user}, "rules": rules})
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user}
        binding = {
            "metadata": {"name": user},
            "roleRef": reference,
            "subjects": [{"kind": "User", "name": user}],
        }
        self._ask("POST", "clusterrolebindings", binding)
        return self.plane.kubeconfig_for(user)

    def _ask(self, method, rest, body=None):
        data = None if body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"}
        code, answer, _ = self.side.request(method, f"{RBAC}/{rest}", data, **kind)
        assert code < 300, answer
        return answer


def without(rule, rights):
    kept = [each for each in rule["resources"] if each not in rights]
    verbs = [verb for verb in rule["verbs"] if f"{verb} {','.join(kept)}" not in rights]
    return {**rule, "resources": kept, "verbs": verbs} if kept and verbs else None


@contextlib.contextmanager
def audited_plane(binaries, folder):
    policy, log = folder / "policy.json", folder / "audit.log"
    policy.write_text(json.dumps(POLICY))
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    with ControlPlane(binaries, flags) as plane:
        yield AuditedPlane(plane, log)
