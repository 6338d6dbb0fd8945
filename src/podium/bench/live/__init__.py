"""Workloads on a cluster: made through its API, timed from outside by a watch.

``run`` runs one once; the command hands in where the cluster is and whose scheduler is timed.
"""
