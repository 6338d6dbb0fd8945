"""Send the same requests to the API servers of two releases, and print where they differ.

    python -m tests.support.control_plane.releases FOLDER FOLDER [SCRIPT ...]

Each folder has the programs of one release. Most of what is printed belongs into the description of
a kind; docs/upgrading.md says where the rest belongs.
"""

import contextlib
import sys
from pathlib import Path

from tests.support.control_plane import sides
from tests.support.control_plane.comparison import compare
from tests.support.control_plane.plane import Binaries, ControlPlane
from tests.support.control_plane.scripts.catalogue import SCRIPTS


def main(older, newer, *names):
    with contextlib.ExitStack() as stack:
        planes = [stack.enter_context(ControlPlane(Binaries(Path(one)))) for one in (newer, older)]
        servers = [sides.real(plane) for plane in planes]
        for script in SCRIPTS:
            if names and script.__name__ not in names:
                continue
            count, found = compare(script, *servers)
            if found:
                print(f"{script.__name__}: {len(found)} differences in {count} answers")
                print(
                    "\n".join(found).replace("podium", "newer").replace("kube-apiserver", "older")
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
