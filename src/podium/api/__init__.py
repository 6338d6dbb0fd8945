"""Kubernetes objects as frozen values; imports nothing of podium but its errors."""
