"""The client: the only code that talks to a Kubernetes API.

`http.py` carries requests, `informer.py` watches kinds of objects, `api_client.py` writes objects,
`event_recorder.py` writes events.
"""
