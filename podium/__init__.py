"""The Kubernetes scheduler as a Python program and library."""
