"""CEL rules of custom resource definitions: their mistakes, and what they say about objects."""
