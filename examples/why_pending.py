"""Say why a pod of a cluster waits, from a dump of that cluster; nothing is written anywhere.

    kubectl get nodes,pods,namespaces,services,pvc,pv,storageclasses -A -o json > dump.json
    python examples/why_pending.py dump.json default/web

Without arguments it explains a pod of examples/cluster.json.
"""

import sys
from pathlib import Path

from podium import app, config
from podium.api import objects
from podium.framework import QueuedPod

SAMPLE = (str(Path(__file__).parent / "cluster.json"), "default/training")
KINDS = {
    kind.__name__: kind
    for kind in (
        objects.DeviceClass,
        objects.Namespace,
        objects.PersistentVolume,
        objects.PersistentVolumeClaim,
        objects.ReplicaSet,
        objects.ResourceClaim,
        objects.ResourceSlice,
        objects.Service,
        objects.StatefulSet,
        objects.StorageClass,
    )
}


def main(dump: str, key: str) -> None:
    core = app.build(config.default(app.in_tree()))
    waiting = {}
    for item in objects.load_yaml(Path(dump).read_text()):  # JSON is YAML
        if item["kind"] == "Node":
            core.cluster.set_node(objects.decode(objects.Node, item))
        elif item["kind"] == "Pod":
            pod = objects.decode(objects.Pod, item)
            if pod.node_name:
                core.cluster.add_pod(pod)
            else:
                waiting[pod.key] = pod
        elif item["kind"] in KINDS:
            core.cluster.set_object(objects.decode(KINDS[item["kind"]], item))
    if key not in waiting:
        sys.exit(f"no pod {key} is pending; these are: {', '.join(sorted(waiting)) or 'none'}")
    pod = waiting[key]
    if pod.scheduler_name not in core.profiles:
        sys.exit(f'{key} waits for the scheduler "{pod.scheduler_name}"')
    if gates := [gate.name for gate in pod.spec.scheduling_gates]:
        sys.exit(f"{key} is not tried while it has scheduling gates: {', '.join(gates)}")
    record = core.cycle(QueuedPod.of(pod)).run().record
    print(record.message or f"it fits now: {record.node}, one of {record.feasible} nodes")
    for (plugin, reason), nodes in sorted(record.rejected.items(), key=lambda item: -item[1]):
        print(f"{nodes:5} x {reason} ({plugin})")


if __name__ == "__main__":
    given = sys.argv[1:] or SAMPLE
    if len(given) != 2:
        sys.exit("usage: why_pending.py DUMP NAMESPACE/POD")
    main(*given)
