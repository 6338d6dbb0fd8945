"""An operator as people write them with kopf: a Copy makes as many ConfigMaps as it says.

`test_kopf.py` runs it in a process of its own, with nothing of podium in it.
"""

import kopf
import kubernetes

kubernetes.config.load_kube_config()
core = kubernetes.client.CoreV1Api()


@kopf.on.startup()
def configure(settings, **_):
    settings.posting.enabled = False
    settings.persistence.finalizer = "example.com/copies"


@kopf.on.create("example.com", "v1", "copies")
def create(spec, name, namespace, **_):
    for number in range(spec["count"]):
        child = {"metadata": {"name": f"{name}-{number}"}, "data": {"text": spec["text"]}}
        kopf.adopt(child)
        core.create_namespaced_config_map(namespace, child)
    return {"made": spec["count"]}


@kopf.on.field("example.com", "v1", "copies", field="spec.text")
def rewrite(old, new, spec, meta, patch, **_):
    if old is not None:
        for number in range(spec["count"]):
            child, body = f"{meta['name']}-{number}", {"data": {"text": new}}
            core.patch_namespaced_config_map(child, meta["namespace"], body)
        patch.status["text"] = new


@kopf.on.delete("example.com", "v1", "copies")
def delete(name, namespace, **_):
    core.create_namespaced_config_map(namespace, {"metadata": {"name": f"{name}-was-here"}})
