"""The dashboard: what a scheduler does, for people to look at. It decides and writes nothing.

``site.py`` serves it. What is shown comes from functions that return plain values and know nothing
of HTTP, so that other views can use them.
"""
