"""The versions of KubeSchedulerConfiguration before v1, one module each."""
