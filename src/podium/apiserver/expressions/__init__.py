"""CEL rules in custom resource definitions: what makes one unusable, and what they say of objects."""
