"""``podium bench``: runs workloads in the format of scheduler_perf through the real core.

``load`` reads workloads, ``run`` runs one once in this process, ``repeat`` runs it in several
processes, and ``report`` prints. The command hands in a function that builds a core.
"""
