"""The embedded cluster: an API server in this process, speaking Kubernetes' REST API."""
