"""The same answers over HTTP, for programs: would this pod fit, where, and what would help."""
