"""Which pod is tried next: pods that wait, back off, cannot be placed now, or are being tried."""
