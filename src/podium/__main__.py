"""The command ``podium``, and ``python -m podium``."""

import sys

INTERRUPTED = 130


def main() -> int:
    try:
        from podium.cli import main as command  # Ctrl-C may come while it is loaded
    except KeyboardInterrupt:
        return INTERRUPTED
    return command()


if __name__ == "__main__":
    sys.exit(main())
