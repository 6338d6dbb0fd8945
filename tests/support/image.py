"""Carries out a Dockerfile in a fresh Debian root, for machines without a container runtime.

It knows the instructions that deploy/Dockerfile has. A stage is a folder, a RUN is a chroot. It
needs root and mmdebstrap, and cleans up after itself; ``python -m tests.support.image FOLDER``
builds the image into a folder and keeps it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
# Settings of this machine for package managers; they are not part of the image.
_PASSED_ON = re.compile(r"(?i)pip_(?!find_links).*|https?_proxy|no_proxy|ssl_cert_file")
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")


def instructions(text):
    """Yield the name and the rest of each instruction, with continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name.upper(), rest.strip()


class Build:
    """``image`` is the folder of the last stage when ``run`` is done."""

    def __init__(self, folder, base):
        self._folder = folder
        self._base = base  # a tar of a Debian root
        self._stages = {}
        self.environment = {}
        self.user = "0:0"

    def run(self, log=print):
        for name, rest in instructions(DOCKERFILE.read_text()):
            log(f"{name} {rest}"[:100])
            getattr(self, f"_{name.lower()}")(rest)
        return self.image

    def _arg(self, rest):
        """The base is the root that was given."""

    def _from(self, rest):
        origin, _, alias = re.sub(r" AS ", " ", rest).partition(" ")
        self.image = self._folder / (alias or "image")
        if origin in self._stages:
            subprocess.run(["cp", "--archive", self._stages[origin], self.image], check=True)
        else:
            self.image.mkdir()
            subprocess.run(["tar", "-xf", self._base, "-C", self.image], check=True)
        self._stages[alias or "image"] = self.image
        self.environment, self.user, self._directory = {}, "0:0", "/"

    def _run(self, rest):
        self.call(["/bin/sh", "-ec", f"cd {self._directory}; {rest}"], check=True)

    def _workdir(self, rest):
        self._directory = rest
        (self.image / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _copy(self, rest):
        *sources, target = (word for word in shlex.split(rest) if not word.startswith("--"))
        stage = re.match(r"--from=(\S+)", rest)
        origin = self._stages[stage[1]] if stage else ROOT
        into = self.image / os.path.join(self._directory, target).lstrip("/")
        for source in sources:
            path = origin / source.lstrip("/")
            if path.is_dir():
                skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
                ignored = None if stage else skipped
                shutil.copytree(path, into, symlinks=True, dirs_exist_ok=True, ignore=ignored)
            else:
                into.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, into)

    def _env(self, rest):
        self.environment |= dict(word.split("=", 1) for word in shlex.split(rest))

    def _user(self, rest):
        self.user = rest

    def _expose(self, rest):
        """Says which port to publish, and does nothing."""

    _entrypoint = _cmd = _expose

    def call(self, command, **options):
        """Run a command in the last stage, as its user."""
        passed = {k: v for k, v in os.environ.items() if _PASSED_ON.fullmatch(k)}
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **passed, **self.environment}
        with self._network():
            return subprocess.run(
                [CHROOT, f"--userspec={self.user}", self.image, *command],
                env=environment, stdin=subprocess.DEVNULL,
                **options,
            )  # fmt: skip

    def _network(self):
        return _Borrowed(self.image, Path("/etc/resolv.conf"), _AUTHORITIES)


class _Borrowed:
    """Files of this machine that a RUN needs for the network; they are put back afterwards."""

    def __init__(self, image, *paths):
        self._pairs = [(path, image / str(path).lstrip("/")) for path in paths if path.exists()]

    def __enter__(self):
        self._kept = []
        for ours, theirs in self._pairs:
            self._kept.append(theirs.read_bytes() if theirs.exists() else None)
            theirs.parent.mkdir(parents=True, exist_ok=True)
            theirs.write_bytes(ours.read_bytes())
        self._lent = [ours.read_bytes() for ours, _ in self._pairs]

    def __exit__(self, *_):
        for (_, theirs), kept, lent in zip(self._pairs, self._kept, self._lent, strict=True):
            if not theirs.exists() or theirs.read_bytes() != lent:
                continue  # an instruction wrote it
            if kept is None:
                theirs.unlink()
            else:
                theirs.write_bytes(kept)


def debian(folder):
    """A tar of the smallest Debian root, as the image debian:bookworm-slim is made of."""
    path = folder / "debian.tar"
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", str(path)]
    slim = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
    subprocess.run([*command, *slim], check=True)
    return path


def size_bytes(folder):
    """What the files of an image take, as layers count it."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def main(folder):
    folder.mkdir(parents=True)
    build = Build(folder, debian(folder))
    image = build.run()
    print(f"{image}: {size_bytes(image) / 1e6:.0f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
