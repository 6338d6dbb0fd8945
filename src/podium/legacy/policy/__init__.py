"""The legacy Policy: predicates and priorities, translated to plugins."""
