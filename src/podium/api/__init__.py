"""Kubernetes objects as frozen values; it imports nothing of podium except its errors."""
