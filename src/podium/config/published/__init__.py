"""The feature gates of each Kubernetes release; `make feature-gates` writes them.

A line is a gate: its name, its stage, whether it is on by default, ``locked`` if it cannot be
changed, and with a plus the gates that must be on for it.
"""
