"""The command ``podium``, and ``python -m podium``."""

import sys

INTERRUPTED = 130


def main() -> int:
    try:
        from podium.cli import main as command  # loading takes long enough to be interrupted
    except KeyboardInterrupt:
        return INTERRUPTED
    return command()


if __name__ == "__main__":
    sys.exit(main())
