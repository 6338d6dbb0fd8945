"""Replays of traces: arrivals and departures of pods on a virtual clock."""
