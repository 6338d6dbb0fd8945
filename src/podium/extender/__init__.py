"""Extenders over HTTP, as kube-scheduler calls them. ``app`` builds them from a configuration."""

from podium.extender.http_extender import HttpExtender, build

__all__ = ["HttpExtender", "build"]
