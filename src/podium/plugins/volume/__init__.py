"""The volume plugins: what a pod's volumes require of its node."""
