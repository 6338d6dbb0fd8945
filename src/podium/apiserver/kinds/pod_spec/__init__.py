"""The spec of a pod, in pods and in templates: its defaults and its checks."""
