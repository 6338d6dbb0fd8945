"""Writes docs/explain-schema.json from the types of explanations: `make explain-schema`."""

import json
from pathlib import Path

from podium import explain

PATH = Path(__file__).resolve().parent.parent / "docs" / "explain-schema.json"

if __name__ == "__main__":
    PATH.write_text(json.dumps(explain.schema(), indent=2) + "\n")
