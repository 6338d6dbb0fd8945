"""What kube-scheduler once had and dropped: plugins, versions of the configuration, policies."""
