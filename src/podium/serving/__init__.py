"""Secure serving: TLS, who sends a request, and what they may read. `live.serving` uses it."""
