"""Starts a fresh etcd and kube-apiserver on loopback, runs a command there, and ends them.

    python -m benchmarks.control_plane podium bench --kubeconfig {kubeconfig} \\
        --compare kube-scheduler={assets}/kube-scheduler benchmarks/live.yaml

Flags before the command are for kube-apiserver, such as those that let it serve pod groups:
`--feature-gates=GenericWorkload=true --runtime-config=scheduling.k8s.io/v1beta1=true`.
In the command, `{kubeconfig}` is the file of an administrator, which is also in KUBECONFIG, and
`{assets}` is the folder of the programs. They are found as `make test-cluster` finds them:
KUBEBUILDER_ASSETS names the folder, or `setup-envtest` has downloaded it.
"""

import itertools
import os
import subprocess
import sys
from pathlib import Path

from tests.support.control_plane.plane import ControlPlane, NoControlPlane, find_binaries

# Without this admission plugin a node is created without a taint that must be removed again.
FLAGS = ("--disable-admission-plugins=TaintNodesByCondition",)


def run(command, plane, binaries):
    """Run the command to its end, also after Ctrl-C, which it gets as well; return its status."""
    values = {"{kubeconfig}": str(plane.admin), "{assets}": str(binaries.folder)}
    for placeholder, value in values.items():
        command = [word.replace(placeholder, value) for word in command]
    # podium is beside the Python that runs this, also if that environment is not activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "KUBECONFIG": str(plane.admin), "PATH": path}
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}")
    with process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def main(words):
    flags = list(itertools.takewhile(lambda word: word.startswith("--"), words))
    command = words[len(flags) :]
    if not command:
        sys.exit("usage: python -m benchmarks.control_plane [FLAG...] COMMAND...")
    try:
        binaries = find_binaries()[0]
        with ControlPlane(binaries, (*FLAGS, *flags)) as plane:
            return run(command, plane, binaries)
    except NoControlPlane as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
