"""The volume plugins: what a pod's volumes ask of its node."""
