"""`podium chaos`: schedulers under faults, in simulated time, with invariants that must hold.

Everything is decided by a seed. Start reading at ``trial.py``.
"""
