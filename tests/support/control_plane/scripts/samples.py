"""One valid object of each resource, for scripts that go through all of them."""

from tests.support.control_plane.scripts.objects import claim, definition, template

_LABELS = {"app": "sample"}
_WORKLOAD = {"selector": {"matchLabels": _LABELS}, "template": template(_LABELS)}
_ONCE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "nginx"}]}}
_DEVICES = {"requests": [{"name": "r", "exactly": {"deviceClassName": "c.example.com"}}]}
_HOOKED = {"apiGroup": "rbac.authorization.k8s.io", "name": "admin"}

# Everything but the metadata, by the resource's name.
_SAMPLES = {
    "namespaces": {},
    "nodes": {"spec": {"podCIDR": "10.0.0.0/24"}},
    "pods": {"spec": {"containers": [{"name": "c", "image": "nginx"}]}},
    "services": {"spec": {"ports": [{"port": 80}], "selector": _LABELS}},
    "endpoints": {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]},
    "configmaps": {"data": {"a": "1"}},
    "secrets": {"stringData": {"a": "b"}},
    "serviceaccounts": {},
    "persistentvolumes": {
        "spec": {
            "hostPath": {"path": "/tmp"},
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
        }
    },
    "persistentvolumeclaims": {"spec": claim("")["spec"]},
    "events": {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "{namespace}"}},
    "replicationcontrollers": {"spec": {"selector": _LABELS, "template": template(_LABELS)}},
    "limitranges": {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}},
    "resourcequotas": {"spec": {"hard": {"pods": "100", "limits.cpu": "1"}}},
    "podtemplates": {"template": template(_LABELS)},
    "deployments.apps": {"spec": _WORKLOAD},
    "replicasets.apps": {"spec": _WORKLOAD},
    "statefulsets.apps": {"spec": _WORKLOAD},
    "daemonsets.apps": {"spec": _WORKLOAD},
    "controllerrevisions.apps": {"data": {"a": 1}, "revision": 3},
    "jobs.batch": {"spec": {"template": _ONCE}},
    "cronjobs.batch": {
        "spec": {
            "schedule": "5 * * * *",
            "timeZone": "Europe/Berlin",
            "jobTemplate": {"spec": {"template": _ONCE}},
        }
    },
    "poddisruptionbudgets.policy": {
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": _LABELS}}
    },
    "horizontalpodautoscalers.autoscaling": {
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        }
    },
    "storageclasses.storage.k8s.io": {"provisioner": "example.com/p"},
    "csinodes.storage.k8s.io": {"spec": {"drivers": [{"name": "d.example.com", "nodeID": "n"}]}},
    "csidrivers.storage.k8s.io": {"spec": {"tokenRequests": [{"audience": "a"}]}},
    "csistoragecapacities.storage.k8s.io": {"storageClassName": "c", "capacity": "1Gi"},
    "volumeattachments.storage.k8s.io": {
        "spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    },
    "volumeattributesclasses.storage.k8s.io": {
        "driverName": "d.example.com",
        "parameters": {"a": "b"},
    },
    "runtimeclasses.node.k8s.io": {"handler": "h"},
    "priorityclasses.scheduling.k8s.io": {"value": 5},
    "leases.coordination.k8s.io": {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 5}},
    "roles.rbac.authorization.k8s.io": {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    },
    "rolebindings.rbac.authorization.k8s.io": {
        "roleRef": {**_HOOKED, "kind": "Role"},
        "subjects": [{"kind": "User", "name": "u"}],
    },
    "clusterroles.rbac.authorization.k8s.io": {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    },
    "clusterrolebindings.rbac.authorization.k8s.io": {
        "roleRef": {**_HOOKED, "kind": "ClusterRole"},
        "subjects": [{"kind": "Group", "name": "g"}],
    },
    "ingresses.networking.k8s.io": {
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    },
    "ingressclasses.networking.k8s.io": {"spec": {"controller": "example.com/c"}},
    "networkpolicies.networking.k8s.io": {"spec": {"podSelector": {"matchLabels": _LABELS}}},
    "endpointslices.discovery.k8s.io": {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"port": 80}],
    },
    "deviceclasses.resource.k8s.io": {
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "d.example.com"'}}]}
    },
    "resourceclaims.resource.k8s.io": {"spec": {"devices": _DEVICES}},
    "resourceclaimtemplates.resource.k8s.io": {"spec": {"spec": {"devices": _DEVICES}}},
    "resourceslices.resource.k8s.io": {
        "spec": {
            "driver": "d.example.com",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        }
    },
    "devicetaintrules.resource.k8s.io": {
        "spec": {
            "deviceSelector": {"driver": "d.example.com"},
            "taint": {
                "key": "example.com/broken",
                "value": "yes",
                "effect": "NoSchedule",
                "timeAdded": "2026-01-01T00:00:00Z",
            },
        }
    },
    "customresourcedefinitions.apiextensions.k8s.io": {
        "spec": definition("samples", "Sample", {"type": "object"})["spec"]
    },
    "events.events.k8s.io": {
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "{namespace}"},
        "reportingController": "example.com/c",
        "reportingInstance": "i",
        "action": "Testing",
        "reason": "Tested",
        "type": "Normal",
    },
}


def sample_name(kind):
    """Definitions are named after what they define."""
    return "samples.example.com" if kind.kind == "CustomResourceDefinition" else "sample"


def sample(kind, namespace):
    """A valid object; ``labels`` let a list choose it among what a server has of itself."""
    meta = {"name": sample_name(kind), "labels": _LABELS}
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
    return {**body, **_placed(_SAMPLES[kind.resource], namespace)}


def _placed(value, namespace):
    match value:
        case dict():
            return {name: _placed(one, namespace) for name, one in value.items()}
        case str():
            return value.replace("{namespace}", namespace)
        case _:
            return value
