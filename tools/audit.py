"""Look for known problems of what the image installs: `make audit` runs it.

It reads what pip-audit writes as JSON. A known problem is an error. Not every mirror of the package
index serves the database of problems: behind such a mirror nothing can be said, and that is not an
error, but a line that says so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "deploy" / "requirements.txt"
SECONDS = 300


def main(program: str) -> int:
    command = [program, "--disable-pip", "--format=json", f"--requirement={REQUIREMENTS}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        dependencies = json.loads(done.stdout)["dependencies"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
        print(f"audit: nothing was looked up: pip-audit gave no answer ({type(error).__name__})")
        return 0
    lines, has_problems = judged(dependencies)
    print("\n".join(lines))
    return int(has_problems)


def judged(dependencies: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return what to print, and whether a dependency has a known problem."""
    problems = [
        f"audit: {each['name']} {each['version']} has {one['id']}; mended in: "
        f"{', '.join(one['fix_versions']) or 'none yet'}"
        for each in dependencies
        for one in each.get("vulns", ())
    ]
    skipped = sum("skip_reason" in each for each in dependencies)
    looked_up = len(dependencies) - skipped
    summary = f"audit: {looked_up} of {len(dependencies)} packages were looked up"
    if skipped:
        summary += f"; the package index knows nothing about the other {skipped}"
    return [*problems, summary], bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
