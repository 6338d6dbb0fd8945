"""``podium bench``: workloads in scheduler_perf's shape, run through the real core in one process.

``load`` reads workloads, ``run`` runs one once, ``repeat`` does so in several processes, ``report``
prints. The command hands in how a core is built.
"""
