"""Runs workloads on a cluster: objects are created through its API and timed by a watch.

``run`` runs a workload once; the command hands in the cluster and which scheduler is timed.
"""
