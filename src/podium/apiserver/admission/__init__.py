"""Admission: what happens to an object between its decoding and its validation, one file each."""
