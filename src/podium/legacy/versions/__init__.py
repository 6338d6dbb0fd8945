"""The versions of KubeSchedulerConfiguration before v1."""
