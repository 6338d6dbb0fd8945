"""What each command takes: its options, their types and their help texts.

Every `--help` and every completion loads all of this package, so nothing in it imports numpy, rich,
YAML or the parts of podium that do; tests/cli/test_start_up.py checks that.
"""
