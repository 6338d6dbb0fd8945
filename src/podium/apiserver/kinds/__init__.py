"""The built-in kinds, described one by one: a file per API group, or a package for a large one."""
