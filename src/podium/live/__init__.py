"""The running scheduler: watches a cluster, schedules its pods, binds them."""
