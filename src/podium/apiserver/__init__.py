"""The embedded cluster: a Kubernetes API server in this process, with controllers and kubelets."""
