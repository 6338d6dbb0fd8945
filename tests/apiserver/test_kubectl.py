"""A session with a stock kubectl, command by command. It needs one on the PATH."""

import asyncio
import json
import os
import shutil
import subprocess

import pytest

from podium.apiserver.bootstrap import new_api
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.apiserver.server import EmbeddedServer
from podium.cli.kubeconfig import add_context
from podium.clock import LoopClock

KUBECTL = shutil.which("kubectl")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        KUBECTL is None, reason="no kubectl on the PATH (Debian: apt-get install kubernetes-client)"
    ),
]

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "nginx:1.25", ports: [{containerPort: 80}]}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {app: web}}
spec: {containers: [{name: c, image: nginx}]}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  names: {kind: Foo, plural: foos, singular: foo, shortNames: [fo]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""
TO_THREE = [{"op": "replace", "path": "/spec/replicas", "value": 3}]
FOO = """
apiVersion: example.com/v1
kind: Foo
metadata: {name: f1}
spec: {size: 3}
"""


class Kubectl:
    """kubectl with a configuration of its own, in a directory with the manifests."""

    def __init__(self, directory, url):
        self.directory = directory
        add_context(directory / "config", url)
        for name, text in {"web": WEB, "pod": POD, "node": NODE, "crd": CRD, "foo": FOO}.items():
            (directory / f"{name}.yaml").write_text(text)
        changed = WEB.replace("replicas: 2", "replicas: 3").replace("1.25", "1.26")
        (directory / "changed.yaml").write_text(changed)

    def __call__(self, command, code=0):
        """Run a command; its output, both streams together."""
        environment = {
            **os.environ,
            "KUBECONFIG": str(self.directory / "config"),
            "HOME": str(self.directory),
        }
        done = subprocess.run(
            [KUBECTL, *command.split(" ")],
            cwd=self.directory,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        output = done.stdout.decode()
        assert done.returncode == code, f"kubectl {command}: {output}"
        return output


def session(directory, steps):
    """Run steps, each (command, what its output must contain[, exit code])."""

    def blocking(url):
        kubectl = Kubectl(directory, url)
        for command, expected, *code in steps:
            output = kubectl(command, *code)
            assert expected in output, f"kubectl {command}: {output}"

    async def main():
        async with EmbeddedServer(new_api(LoopClock())) as server:
            await asyncio.to_thread(blocking, server.url)

    asyncio.run(main())


def test_reading(tmp_path):
    session(
        tmp_path,
        [
            ("version", "Server Version"),
            ("apply -f node.yaml -f pod.yaml -f web.yaml", "deployment.apps/web created"),
            ("get pods", "p1     0/1     Pending   0"),
            ("get pods -o wide", "NOMINATED NODE   READINESS GATES"),
            ("get nodes", "n1     Ready    <none>"),
            ("get deploy web", "web    0/2     0            0"),
            ("get pods -A", "NAMESPACE   NAME   READY"),
            ("get pod p1 -o yaml", "schedulerName: default-scheduler"),
            ("get pod p1 -o json", '"phase": "Pending"'),
            ("get pod p1 -o jsonpath={.spec.containers[0].image}", "nginx"),
            ("get pods -o custom-columns=N:.metadata.name", "p1"),
            ("get pods -l app=web", "p1"),
            ("get pods -l app=other", "No resources found in default namespace."),
            ("get pods --field-selector status.phase=Running", "No resources found"),
            ("get pods --sort-by=.metadata.name", "p1"),
            ("get all", "deployment.apps/web"),
            ("get pods none", 'Error from server (NotFound): pods "none" not found', 1),
            ("get foos", 'the server doesn\'t have a resource type "foos"', 1),
            ("describe pod p1", "Tolerations:"),
            ("describe node n1", "Capacity:"),
            ("describe deploy web", "StrategyType:           RollingUpdate"),
            ("api-resources", "poddisruptionbudgets"),
            ("api-versions", "scheduling.k8s.io/v1"),
            ("explain pod.spec.containers", "image"),
            ("auth can-i delete nodes", "yes"),
            ("get --raw /api/v1/namespaces/default/pods/p1", '"kind":"Pod"'),
            ("logs p1", "simulated", 1),
            ("exec p1 -- ls", "simulated", 1),
            ("get events", "No resources found"),
        ],
    )


def test_applying(tmp_path):
    session(
        tmp_path,
        [
            ("apply -f web.yaml", "deployment.apps/web created"),
            ("apply -f web.yaml", "deployment.apps/web unchanged"),
            ("diff -f web.yaml", ""),
            ("diff -f changed.yaml", "nginx:1.26", 1),
            ("apply -f changed.yaml", "deployment.apps/web configured"),
            ("get deploy web -o jsonpath={.spec.replicas}", "3"),
            ("apply --server-side --field-manager=a --force-conflicts -f web.yaml", "serverside"),
            ("apply --server-side --field-manager=a -f web.yaml", "serverside-applied"),
            ("apply --server-side --field-manager=b -f changed.yaml", ".spec.replicas", 1),
            (
                "apply --server-side --field-manager=b --force-conflicts -f changed.yaml",
                "serverside-applied",
            ),
            ("apply --dry-run=server -f web.yaml", "server dry run"),
            ("apply -f crd.yaml", "foos.example.com created"),
            ("wait --for=condition=Established crd/foos.example.com --timeout=5s", "condition met"),
            ("apply -f foo.yaml", "foo.example.com/f1 created"),
            ("apply -f foo.yaml", "foo.example.com/f1 unchanged"),
            ("get fo", "f1"),
            ("explain foo.spec", "size"),
        ],
    )


def test_changing(tmp_path):
    session(
        tmp_path,
        [
            ("apply -f node.yaml -f pod.yaml -f web.yaml", "node/n1 created"),
            ("label pod p1 x=y", "pod/p1 labeled"),
            ("annotate pod p1 a=b", "pod/p1 annotate"),
            ("taint nodes n1 k=v:NoSchedule", "node/n1 tainted"),
            ("cordon n1", "node/n1 cordoned"),
            ("get node n1", "Ready,SchedulingDisabled"),
            ("uncordon n1", "node/n1 uncordoned"),
            ("drain n1 --ignore-daemonsets", "node/n1 drained"),
            ("scale deploy web --replicas=5", "deployment.apps/web scaled"),
            ("rollout restart deploy web", "deployment.apps/web restarted"),
            ("set image deploy/web c=nginx:2", "deployment.apps/web image updated"),
            ('patch deploy web -p {"spec":{"replicas":1}}', "patched"),
            ('patch deploy web --type=merge -p {"spec":{"replicas":2}}', "patched"),
            (
                f"patch deploy web --type=json -p {json.dumps(TO_THREE, separators=(',', ':'))}",
                "patched",
            ),
            ("get deploy web -o jsonpath={.spec.replicas}", "3"),
            ("wait --for=condition=Ready node/n1 --timeout=5s", "condition met"),
            ("expose deploy web --port=80", "service/web exposed"),
            ("run p2 --image=nginx", "pod/p2 created"),
        ],
    )


def test_creating_and_deleting(tmp_path):
    session(
        tmp_path,
        [
            ("create namespace team", "namespace/team created"),
            ("create configmap c --from-literal=a=b", "configmap/c created"),
            ("create secret generic s --from-literal=a=b", "secret/s created"),
            ("create serviceaccount sa", "serviceaccount/sa created"),
            ("create deployment d --image=nginx --replicas=2", "deployment.apps/d created"),
            ("create job j --image=busybox", "job.batch/j created"),
            ("create quota q --hard=pods=3", "resourcequota/q created"),
            ("create priorityclass high --value=1000", "high created"),
            ("create role r --verb=get --resource=pods", "r created"),
            ("create rolebinding rb --role=r --serviceaccount=default:sa", "rb created"),
            ("create service clusterip svc --tcp=80:8080", "service/svc created"),
            (
                "create ingress i --rule=a.com/b*=svc:80,tls=t",
                "ingress.networking.k8s.io/i created",
            ),
            ("get ingress i -o jsonpath={.spec.rules[0].http.paths[0].path}", "/b"),
            ("create cronjob cj --image=busybox --schedule=@daily", "cronjob.batch/cj created"),
            ("create pdb b --selector=app=d --min-available=1", "b created"),
            ("create clusterrole cr --verb=get --resource=nodes", "cr created"),
            ("create clusterrolebinding crb --clusterrole=cr --user=me", "crb created"),
            ("autoscale deploy d --max=3 --cpu-percent=50", "autoscaled"),
            ("get hpa d", "Deployment/d   cpu: <unknown>/50%"),
            ("get ingress i", "i      <none>   a.com"),
            ("get deploy d -o jsonpath={.spec.template.spec.containers[0].image}", "nginx"),
            ("get secret s -o jsonpath={.data.a}", "Yg=="),
            ("delete configmap c", 'configmap "c" deleted'),
            ("delete deploy d --cascade=foreground", 'deployment.apps "d" deleted'),
            ("delete job j --cascade=orphan", 'job.batch "j" deleted'),
            ("apply -f pod.yaml", "pod/p1 created"),
            ("delete pod p1 --force --grace-period=0", 'pod "p1" force deleted'),
            ("delete secrets --all", 'secret "s" deleted'),
            ("delete ns team --wait=false", 'namespace "team" deleted'),
            ("get ns team", "Terminating"),
        ],
    )


def test_undo_returns_to_the_old_set(tmp_path):
    """kubectl creates in protobuf, with every zero, and goes back in JSON, without."""

    async def main():
        async with EmbeddedCluster(ClusterOptions(nodes=1)) as cluster:
            kubectl = Kubectl(tmp_path, cluster.url)
            seen = []
            for command in (
                "create deployment web --image=nginx:1",
                "set image deploy/web nginx=nginx:2",
                "rollout undo deploy/web",
            ):
                await asyncio.to_thread(kubectl, command)
                await cluster.settle()
                sets = cluster.api.store.objects("replicasets.apps")
                seen.append({one["metadata"]["name"] for one in sets})
            return seen

    first, both, after = asyncio.run(main())
    assert (len(first), len(both)) == (1, 2)
    assert after == both
