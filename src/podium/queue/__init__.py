"""The scheduling queue: pods to be tried, backing off, unschedulable, or being tried."""
