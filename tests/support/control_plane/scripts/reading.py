"""Scripts: get, list, pages, selectors, Tables, partial metadata, discovery."""

from tests.support.control_plane.comparison import JSON, PARTIAL, PARTIAL_LIST, TABLE
from tests.support.control_plane.scripts.objects import claim, config_map, deployment, pod


def get_and_list(ask):
    for name in ("a", "b"):
        ask.create(ask.core("configmaps"), config_map(name, labels={"name": name}))
    ask.get(ask.core("configmaps/a"))
    ask.get(ask.core("configmaps/none"))
    ask.get(ask.core("configmaps"))
    ask.get(ask.core("configmaps?resourceVersion=0"))
    ask.get("/api/v1/namespaces/nowhere/configmaps")
    ask.get("/api/v1/namespaces/nowhere/configmaps/a")
    ask.get(ask.apps("deployments"))
    ask.get(ask.core("unknowns"))
    ask.get("/apis/apps/v2/deployments")
    ask.get("/apis/nogroup.example.org/v1/things")
    ask.get(ask.core("configmaps/a/status"))
    ask.get(ask.core("configmaps/a"), accept="application/xml")
    ask.get(ask.core("configmaps/a"), accept="application/yaml")
    ask.get(ask.core("configmaps/a"), accept="*/*")
    ask.get(ask.core("configmaps/a"), accept=PARTIAL)
    ask.get(ask.core("configmaps"), accept=PARTIAL_LIST)
    ask.get(f"/api/v1/namespaces/{ask.namespace}")
    ask("POST", ask.core("configmaps/a"), config_map("a"))
    ask("PUT", ask.core("configmaps"), config_map("a"))
    ask("PATCH", ask.core("configmaps"), b"{}", "application/merge-patch+json")
    ask("POST", "/api/v1/configmaps", config_map("a"))


def selectors(ask):
    path = ask.core("configmaps")
    ask.create(path, config_map("a", labels={"app": "web", "tier": "1"}))
    ask.create(path, config_map("b", labels={"app": "web", "tier": "2"}))
    ask.create(path, config_map("c", labels={"app": "db"}))
    ask.create(path, config_map("d"))
    for selector in (
        "app=web",
        "app==web,tier!=1",
        "app in (web, db),tier notin (1)",
        "tier",
        "!tier",
        "tier>1",
        "tier<2",
        "app=",
        "app=web,",
        "=web",
        "app in ()",
        "app in (web",
        "app in web",
        "app ~ web",
        "a b",
        "app=we b",
        "app=a/b",
        "-bad-=x",
        "tier>x",
        ",app",
        "!",
        "app=web,,tier",
    ):
        ask.get(f"{path}?labelSelector={_quoted(selector)}")
    for selector in (
        "metadata.name=a",
        "metadata.name!=a",
        f"metadata.namespace={ask.namespace}",
        "metadata.namespace=other",
        "spec.x=1",
        "metadata.name",
        "metadata.name=a,metadata.name=b",
        "metadata.labels=a",
    ):
        ask.get(f"{path}?fieldSelector={_quoted(selector)}")


def pod_selectors(ask):
    path = ask.core("pods")
    ask.create(path, pod("a", nodeName="n1"))
    ask.create(path, pod("b", restartPolicy="Never", hostNetwork=True))
    for selector in (
        "spec.nodeName=n1",
        "spec.nodeName=",
        "spec.nodeName!=",
        "status.phase=Pending",
        "status.phase!=Pending",
        "spec.restartPolicy=Never",
        "spec.schedulerName=default-scheduler",
        "spec.hostNetwork=true",
        "spec.hostNetwork=false",
        "spec.serviceAccountName=",
        "status.podIP=",
        "status.nominatedNodeName=",
        "spec.priority=0",
    ):
        ask.get(f"{path}?fieldSelector={_quoted(selector)}", accept=PARTIAL_LIST)


def _quoted(text):
    return "".join(char if char.isalnum() else f"%{ord(char):02X}" for char in text)


def pages(ask):
    path = ask.core("configmaps")
    for number in range(5):
        ask.create(path, config_map(f"c{number}", labels={"even": str(number % 2 == 0)}))
    page = ask.get(f"{path}?limit=2")
    token = page["metadata"]["continue"]
    page = ask.get(f"{path}?limit=2&continue={token}")
    ask.get(f"{path}?limit=2&continue={page['metadata']['continue']}")
    ask.get(f"{path}?limit=1&labelSelector=even%3DTrue")
    ask.get(f"{path}?limit=0")
    ask.get(f"{path}?limit=-1")
    ask.get(f"{path}?limit=many")
    ask.get(f"{path}?limit=2&continue={token}&resourceVersion=1")
    version = page["metadata"]["resourceVersion"]
    ask.get(f"{path}?resourceVersion={version}&resourceVersionMatch=Exact")
    ask.get(f"{path}?resourceVersion={version}&resourceVersionMatch=NotOlderThan")
    ask.get(f"{path}?resourceVersion={version}&resourceVersionMatch=Newer")
    ask.get(f"{path}?resourceVersionMatch=Exact")
    ask.get(f"{path}?resourceVersion=0&resourceVersionMatch=Exact")
    ask.get(f"{path}?continue={token}&resourceVersionMatch=Exact")
    ask.get(f"{path}?resourceVersion=abc")
    ask.get(f"{path}?resourceVersion=-1")


# A real server may report here that it repairs the addresses of services.
NO_EVENTS = "events?fieldSelector=metadata.name%3Dnone"


def tables(ask):
    ask.create(ask.core("pods"), pod("p"))
    ask.create(ask.core("configmaps"), config_map("c"))
    ask.create(ask.core("secrets"), {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
    ask.create(ask.core("serviceaccounts"), {"metadata": {"name": "sa"}})
    ask.create(ask.core("persistentvolumeclaims"), claim("pvc"))
    ask.create(ask.apps("deployments"), deployment("web"))
    ask.create(
        ask.core("services"), {"metadata": {"name": "svc"}, "spec": {"ports": [{"port": 80}]}}
    )
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    ask.create(
        ask.group("policy/v1", "poddisruptionbudgets"), {"metadata": {"name": "b"}, "spec": budget}
    )
    ask.create(
        ask.group("coordination.k8s.io/v1", "leases"), {"metadata": {"name": "l"}, "spec": {}}
    )
    job = {"template": {"spec": {"restartPolicy": "Never", **pod("")["spec"]}}}
    ask.create(ask.group("batch/v1", "jobs"), {"metadata": {"name": "j"}, "spec": job})
    for path in (
        ask.core("pods/p"),
        ask.core("configmaps/c"),
        ask.core("secrets"),
        ask.core("serviceaccounts"),
        ask.core("persistentvolumeclaims"),
        ask.core("services"),
        ask.core(NO_EVENTS),
        ask.core("endpoints"),
        ask.core("replicationcontrollers"),
        ask.core("resourcequotas"),
        ask.core("limitranges"),
        ask.apps("deployments"),
        ask.apps("replicasets"),
        ask.apps("statefulsets"),
        ask.apps("daemonsets"),
        ask.apps("controllerrevisions"),
        ask.group("batch/v1", "jobs"),
        ask.group("policy/v1", "poddisruptionbudgets"),
        ask.group("coordination.k8s.io/v1", "leases"),
        ask.group("events.k8s.io/v1", NO_EVENTS),
        ask.group("resource.k8s.io/v1", "resourceclaims"),
        ask.group("networking.k8s.io/v1", "ingresses"),
        "/api/v1/nodes",
        "/api/v1/persistentvolumes",
        "/apis/storage.k8s.io/v1/storageclasses",
        "/apis/storage.k8s.io/v1/csinodes",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/resource.k8s.io/v1/deviceclasses",
        "/apis/resource.k8s.io/v1/resourceslices",
    ):
        ask.get(path, accept=f"{TABLE},{JSON}")
    ask.get(f"{ask.core('pods')}?includeObject=None", accept=TABLE)
    ask.get(f"{ask.core('pods')}?includeObject=Object", accept=TABLE)
    ask.get(f"{ask.core('pods')}?includeObject=Wrong", accept=TABLE)


def watches(ask):
    path = ask.core("configmaps")
    ask.create(path, config_map("a", labels={"seen": "yes"}))
    version = ask.get(path)["metadata"]["resourceVersion"]
    ask.watch(f"{path}?watch=1&resourceVersion=0", 1)
    ask.create(path, config_map("b"))
    ask.patch(f"{path}/a", {"data": {"b": "2"}}, "application/merge-patch+json")
    ask.patch(f"{path}/a", {"metadata": {"labels": None}}, "application/merge-patch+json")
    ask.delete(f"{path}/b")
    ask.watch(f"{path}?watch=1&resourceVersion={version}", 4)
    ask.watch(f"{path}?watch=1&resourceVersion={version}&labelSelector=seen%3Dyes", 2)
    ask.watch(f"{path}?watch=1&resourceVersion={version}&fieldSelector=metadata.name%3Db", 2)
    initial = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    ask.watch(f"{path}?{initial}&allowWatchBookmarks=true", 2)
    for whole in ("", "&resourceVersion=0"):
        ask.watch(f"{path}?watch=1&allowWatchBookmarks=true{whole}", 2)
    ask.get(f"{path}?{initial}&resourceVersion=abc")
    ask.get(f"{path}?watch=1&sendInitialEvents=true")
    ask.get(f"{path}?watch=1&resourceVersion=abc")
    ask.get(f"{path}?watch=1&resourceVersionMatch=Exact&resourceVersion=1")
    ask.get(f"{path}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan")


NOT_SERVED = (
    "componentstatuses",
    "nodes/proxy",
    "pods/proxy",
    "pods/resize",
    "services/proxy",
    "ipaddresses",
    "servicecidrs",
    "servicecidrs/status",
)


def discovery(ask):
    for path in (
        "/api",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/apis/batch/v1",
        "/apis/policy/v1",
        "/apis/storage.k8s.io/v1",
        "/apis/scheduling.k8s.io/v1",
        "/apis/coordination.k8s.io/v1",
        "/apis/events.k8s.io/v1",
        "/apis/rbac.authorization.k8s.io/v1",
        "/apis/resource.k8s.io/v1",
        "/apis/apiextensions.k8s.io/v1",
        "/apis/authorization.k8s.io/v1",
        "/apis/authentication.k8s.io/v1",
        "/apis/networking.k8s.io/v1",
        "/apis/discovery.k8s.io/v1",
        "/apis/none",
        "/apis/apps/v9",
        "/healthz",
        "/livez",
        "/readyz",
        "/nothing",
    ):
        ask.get(path)
        _forget_missing(ask.answers[-1][1]["body"])


def _forget_missing(found):
    """Leave out what podium does not serve; see docs/embedded-cluster-api.md."""
    if isinstance(found, dict) and "resources" in found:
        found["resources"] = {
            one["name"]: one for one in found["resources"] if one["name"] not in NOT_SERVED
        }


ALL = (get_and_list, selectors, pod_selectors, pages, tables, watches, discovery)
