"""Objects that the scripts send."""


def pod(name, **spec):
    containers = [{"name": "c", "image": "nginx:1.25"}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def config_map(name, data=None, **meta):
    return {"metadata": {"name": name, **meta}, "data": data or {"a": "1"}}


def template(labels, **spec):
    containers = [{"name": "c", "image": "nginx"}]
    return {"metadata": {"labels": labels}, "spec": {"containers": containers, **spec}}


def deployment(name, replicas=2, **spec):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template(labels),
            **spec,
        },
    }


def claim(name, **spec):
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": name}, "spec": spec}


def definition(plural, kind, schema, **version):
    """A CustomResourceDefinition of example.com/v1."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        },
    }
