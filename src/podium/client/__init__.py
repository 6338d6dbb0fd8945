"""The client: the only code that talks to a Kubernetes API. `http.py` carries requests,
`informer.py` follows kinds of objects, `api_client.py` writes, `event_recorder.py` tells people."""
