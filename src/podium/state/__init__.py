"""What the scheduler knows about the cluster, kept in columns with one row per node."""
