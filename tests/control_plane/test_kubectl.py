"""The same kubectl session against kube-apiserver and the embedded API server: the same output."""

import difflib
import os
import re
import subprocess

import pytest

from tests.apiserver.test_kubectl import CRD, FOO, NODE, POD, WEB
from tests.support.control_plane.comparison import normal_text

pytestmark = pytest.mark.cluster

BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
INVALID = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {}}}
"""
UNKNOWN = """
apiVersion: v1
kind: Pod
metadata: {name: odd}
spec: {containers: [{name: c, image: nginx, imagePolicy: Never}], nodeSelectors: {a: b}}
"""
DEVICES = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpus}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    attributes: {model: {string: a100}, index: {int: 0}}
    capacity: {memory: {value: 80Gi}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: training}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers: [{name: c, image: nginx, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimName: training}]
"""
ALLOCATED = (
    '{"status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.example.com",'
    '"pool":"n1","device":"gpu-0"}]}},"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}}'
)
MANIFESTS = {
    "devices": DEVICES,
    "web": WEB,
    "changed": WEB.replace("replicas: 2", "replicas: 3").replace("1.25", "1.26"),
    "pod": POD,
    "node": NODE,
    "crd": CRD,
    "foo": FOO,
    "budget": BUDGET,
    "claim": CLAIM,
    "invalid": INVALID,
    "unknown": UNKNOWN,
}

READING = """
apply -f node.yaml -f pod.yaml -f web.yaml -f budget.yaml -f claim.yaml
get pods
get pods -o wide
get pods --show-labels
get pods -A -l app=web
get nodes
get nodes -o wide
get deploy,pvc,pdb
get deploy web -o wide
get all
get pod p1 -o yaml
get deploy web -o json
get pvc data -o yaml
get pod p1 -o jsonpath={.spec.containers[0].image}
get pods -o custom-columns=N:.metadata.name,P:.status.phase
get pods -o name
get pods -l app=other
get pods --field-selector status.phase=Running
get pods --field-selector spec.odd=1
get pods -l a=b=c
get pods --sort-by=.metadata.name
get pods none
get pods p1 none
get nothings
get ns reading
get priorityclasses
get events
get secrets,cm,sa,svc,ep,rs,sts,ds,jobs,cj
get pods --chunk-size=1
get pods -o wide --no-headers
get --raw /api/v1/namespaces/reading/pods/none
get --raw /nothing
describe pod p1
describe deploy web
describe pdb web
describe pvc data
explain pod.spec.nodeName
explain pod.odd
auth can-i delete nodes
wait --for=condition=Ready pod/p1 --timeout=0
wait --for=jsonpath={.status.phase}=Pending pod/p1 --timeout=5s
delete -f node.yaml
"""
APPLYING = """
apply -f web.yaml
apply -f web.yaml
diff -f web.yaml
diff -f changed.yaml
apply -f changed.yaml --dry-run=server
apply -f changed.yaml --dry-run=client
apply -f changed.yaml
get deploy web -o yaml --show-managed-fields
apply --server-side --field-manager=a -f web.yaml
apply --server-side --field-manager=a --force-conflicts -f web.yaml
apply --server-side --field-manager=a -f web.yaml
apply --server-side --field-manager=b -f changed.yaml
apply --server-side --field-manager=b --force-conflicts -f changed.yaml
get deploy web -o yaml --show-managed-fields
apply view-last-applied deploy/web
apply -f web.yaml
apply --server-side -f changed.yaml
get deploy web -o yaml --show-managed-fields
apply -f web.yaml
scale deploy web --replicas=7
apply --server-side -f changed.yaml
apply --server-side -f web.yaml --force-conflicts
get deploy web -o yaml --show-managed-fields
apply -f invalid.yaml
apply -f unknown.yaml
create -f unknown.yaml --validate=strict
create -f unknown.yaml --validate=warn
create -f unknown.yaml --validate=ignore
create -f web.yaml
replace -f changed.yaml
replace --force -f web.yaml
apply -f nowhere.yaml
apply -f crd.yaml
wait --for=condition=Established crd/foos.example.com --timeout=10s
apply -f foo.yaml
apply -f foo.yaml
apply --server-side -f foo.yaml
get fo
get foos f1 -o yaml
explain foo.spec
patch foo f1 --type=merge -p {"spec":{"size":5}}
patch foo f1 -p {"spec":{"size":5}}
patch foo f1 --type=merge -p {"spec":{"size":"x"}}
scale foo f1 --replicas=2
delete foo f1
delete -f crd.yaml
"""
CHANGING = """
apply -f node.yaml -f pod.yaml -f web.yaml
label pod p1 x=y
label pod p1 x=z
label pod p1 x=z --overwrite
label pod p1 x-
label pod p1 bad/=y
annotate pod p1 a=b
annotate pod p1 a-
annotate pod none a=b
taint nodes n1 k=v:NoSchedule
taint nodes n1 k=v:NoSchedule
taint nodes n1 k=w:NoSchedule --overwrite
taint nodes n1 k:NoSchedule-
taint nodes n1 k:Odd
cordon n1
cordon n1
get node n1
uncordon n1
drain n1 --ignore-daemonsets
scale deploy web --replicas=5
scale deploy web --replicas=4 --current-replicas=9
scale deploy web --replicas=-1
scale deploy none --replicas=1
rollout restart deploy web
rollout history deploy web
rollout pause deploy web
rollout resume deploy web
set image deploy/web c=nginx:2
set image deploy/web none=nginx:2
set resources deploy web --limits=cpu=200m
set env deploy/web A=B
patch deploy web -p {"spec":{"replicas":1}}
patch deploy web -p {"spec":{"replicas":1}}
patch deploy web --type=merge -p {"spec":{"replicas":2}}
patch deploy web --type=json -p [{"op":"replace","path":"/spec/replicas","value":3}]
patch deploy web --type=json -p [{"op":"remove","path":"/spec/none"}]
patch deploy web -p {"spec":
patch pod p1 -p {"spec":{"nodeName":"n1"}}
patch pod p1 --subresource=status --type=merge -p {"status":{"phase":"Running"}}
get pod p1 --subresource=status
get deploy web -o jsonpath={.spec.replicas}
autoscale deploy web --max=3
expose deploy web --port=80
run p2 --image=nginx
run p2 --image=nginx
run p3 --image=nginx --dry-run=server -o name
delete -f node.yaml
"""
CREATING = """
create namespace team
create namespace team
create namespace Bad_Name
create configmap c --from-literal=a=b
create configmap c --from-literal=a=b
create secret generic s --from-literal=a=b
create serviceaccount sa
create deployment d --image=nginx --replicas=2
create job j --image=busybox
create cronjob cj --image=busybox --schedule=*/5_*_*_*_*
create quota q --hard=pods=3
create priorityclass high --value=1000
create priorityclass higher --value=2000000000
create poddisruptionbudget b --selector=app=x --min-available=1
create role r --verb=get --resource=pods
create rolebinding rb --role=r --serviceaccount=default:sa
create service clusterip svc --tcp=80:8080
create ingress i --rule=example.com/=svc:80
create configmap d --from-literal=a=b --dry-run=server -o yaml
get cm c -o yaml
get quota,pdb,svc,ing,role,rolebinding
get svc svc -o wide
get job,cj
describe quota q
describe svc svc --show-events=false
delete configmap c
delete configmap c
delete configmap c --ignore-not-found
delete deploy d
delete job j --wait=false
delete pod none --force --grace-period=0
delete secrets --all
delete priorityclass high
delete cm -l none=here
delete ns team --wait=false
get ns team
delete ns kube-system
"""
CLAIMING = f"""
apply -f devices.yaml
apply -f devices.yaml
get resourceclaims,resourceslices,deviceclasses,resourceclaimtemplates
get resourceclaims -o wide
get resourceclaim training -o yaml
get resourceslice n1-gpus -o yaml
describe resourceclaim training
describe resourceslice n1-gpus
describe deviceclass gpu.example.com
describe resourceclaimtemplate one-gpu
describe pod trainer
patch resourceclaim training --subresource=status --type=merge -p {ALLOCATED}
get resourceclaims
describe resourceclaim training
patch resourceclaim training --type=merge -p {{"spec":{{"devices":{{"requests":[]}}}}}}
explain resourceclaim.spec.devices.requests.exactly.count
delete -f devices.yaml --wait=false
get resourceclaims,resourceslices,deviceclasses,resourceclaimtemplates
"""
SESSIONS = {
    "claiming": CLAIMING,
    "reading": READING,
    "applying": APPLYING,
    "changing": CHANGING,
    "creating": CREATING,
}


class Kubectl:
    """kubectl towards one server, in a folder with the manifests."""

    def __init__(self, program, side, folder):
        self._command = [program, f"--kubeconfig={side.kubeconfig}"]
        self._folder = folder
        folder.mkdir()
        for name, text in MANIFESTS.items():
            (folder / f"{name}.yaml").write_text(text)

    def __call__(self, line):
        """A command's exit code and its output, both streams together, in normal form."""
        words = [word.replace("_*", " *") for word in line.split(" ")]
        done = subprocess.run(
            [*self._command, *words],
            cwd=self._folder,
            env={**os.environ, "HOME": str(self._folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        return f"exit {done.returncode}\n{normal_output(done.stdout.decode())}"


_FOLDER = re.compile(r"/\S*?(LIVE|MERGED)-\d+")
_DIFF_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}")
_AGE = re.compile(r"(?<=\s)(\d+[smhd])+(?=\s|$)")
_VERSION = re.compile(r'(resourceVersion"?): "\d+"')
_DESCRIBED_VERSION = re.compile(r"(Resource Version:\s+)\d+")
_MORE = re.compile(r"(\w{3}, )?\d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")


def normal_output(text):
    """Output without ages, times, versions and the width of columns."""
    text = normal_text(text)
    text = _FOLDER.sub(r"<\1>", _DIFF_TIME.sub("<time>", _MORE.sub("<time>", text)))
    text = _AGE.sub("<age>", _VERSION.sub(r"\1: <version>", text))
    text = _DESCRIBED_VERSION.sub(r"\1<version>", text)
    lines = (re.sub(r"(?<=\S) {2,}", "  ", line).rstrip() for line in text.splitlines())
    return "\n".join(lines)


def _diff(ours, theirs):
    lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "kube-apiserver", "podium")
    return "\n".join(line.rstrip() for line in lines)


@pytest.mark.parametrize("name", SESSIONS)
def test_same_output(name, binaries, ours, theirs, tmp_path):
    sides = [Kubectl(binaries["kubectl"], side, tmp_path / side.name) for side in (ours, theirs)]
    commands = [f"create namespace {name}", *SESSIONS[name].strip().splitlines()]
    found = []
    for command in commands:
        one, other = (kubectl(f"--namespace={name} {command}") for kubectl in sides)
        if one != other:
            found.append(f"$ kubectl {command}\n{_diff(one, other)}")
    assert not found, f"{len(found)} of {len(commands)} commands differ:\n" + "\n".join(found)
