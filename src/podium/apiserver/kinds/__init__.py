"""The built-in kinds: a file per API group, or a package for a large group."""
