"""Programs in the place of a scheduler, which get kube-scheduler's flags: some are no good."""

import sys
import textwrap

_START = """
    import json, os, signal, sys
    config = next(word for word in sys.argv if word.startswith("--config=")).partition("=")[2]
    held = json.load(open(config))["leaderElection"]["leaderElect"]
    binding = [sys.executable, "-m", "podium", "bench", "--bind-loop", config]
"""
KINDS = {
    "binds": "os.execv(sys.executable, binding)",
    "dies": "sys.exit('no licence found')",
    "hangs": "signal.pause()",
    "dies-when-held": "sys.exit('no lease today') if held else os.execv(sys.executable, binding)",
    "hangs-when-held": "signal.pause() if held else os.execv(sys.executable, binding)",
}
NOTHING = "nothing"  # a script without an interpreter, which the system cannot run


def fake_scheduler(folder, kind):
    """Write an executable file of this kind; return its path."""
    path = folder / kind
    body = textwrap.dedent(_START) + textwrap.dedent(KINDS.get(kind, ""))
    interpreter = "/missing/interpreter" if kind == NOTHING else sys.executable
    path.write_text(f"#!{interpreter}\n{body}\n")
    path.chmod(0o755)
    return path
