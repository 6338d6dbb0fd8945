"""deploy/Dockerfile, carried out in a fresh Debian root; podium runs from the result as in a pod.

`make test-image` runs this: it needs root, mmdebstrap, Debian's packages and a control plane.
"""

import os
import shutil
import subprocess
import time

import pytest

from tests.support import image as images
from tests.support.control_plane import shipped, sides
from tests.support.control_plane.plane import ControlPlane, find_binaries
from tests.support.control_plane.processes import Scheduler, free_port
from tests.support.control_plane.stage import Stage

# The first test builds the image, which takes some minutes on a busy machine.
pytestmark = [pytest.mark.image, pytest.mark.timeout(1800)]

MOST_MEGABYTES = 400
# Where /var/run/secrets leads to: from outside, that link would lead to this machine.
SECRETS = "run/secrets/kubernetes.io/serviceaccount"
COMPILERS = ("gcc", "cc", "g++", "clang", "ld", "make", "pip", "pip3")


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    if os.geteuid() or not shutil.which("mmdebstrap"):
        pytest.fail("needs root and mmdebstrap: apt-get install mmdebstrap", pytrace=False)
    folder = tmp_path_factory.mktemp("image")
    build = images.Build(folder, images.debian(folder))
    build.run()
    yield build
    shutil.rmtree(folder)


def test_size(build):
    megabytes = images.size_bytes(build.image) / 1e6
    print(f"\nimage: {megabytes:.0f} MB, of which podium and its dependencies "
          f"{images.size_bytes(build.image / 'opt') / 1e6:.0f} MB")  # fmt: skip
    assert megabytes < MOST_MEGABYTES


def test_there_is_no_compiler_and_no_pip(build):
    found = [
        path
        for name in COMPILERS
        for folder in ("usr/bin", "usr/local/bin", "opt/podium/bin")
        if (path := build.image / folder / name).exists()
    ]
    assert found == []


def test_it_does_not_run_as_root(build):
    assert build.user == "65532:65532"
    done = build.call(["podium", "--version"], capture_output=True, text=True)
    assert (done.stdout + done.stderr).startswith("podium 0.1.0")


def test_nothing_in_it_belongs_to_the_user_who_runs_it(build):
    owned = [path for path in build.image.rglob("*") if path.lstat().st_uid == 65532]
    assert owned == []


def test_podium_schedules_from_the_image(build, tmp_path):
    binaries = find_binaries()[0]
    with ControlPlane(binaries) as plane:
        shipped.apply(binaries, plane.admin, shipped.DEPLOY / "overlays" / "beside")
        side = sides.real(plane)
        mount(build.image, plane, side)
        stage = Stage(side, "image")
        stage.ready_nodes("a")
        stage.pod("web", schedulerName="podium")
        begin = time.monotonic()
        with in_image(build, plane.url, tmp_path) as scheduler:
            note = stage.until_told("web", "Scheduled")
            asked = {
                path: shipped.get(scheduler.port, path)
                for path in ("/livez", "/readyz", "/metrics")
            }
            print(f"\ncold start to the first binding: {time.monotonic() - begin:.1f} s")
    assert note == "Successfully assigned image/web to a"
    assert asked == {"/livez": 200, "/readyz": 200, "/metrics": 403}
    # This API server has no authority for proxies, and podium says so.
    assert [each for each in scheduler.complaints if "requestheader-client-ca" not in each] == []


def mount(image, plane, side):
    """What a kubelet mounts into the container: the token, its authority, and the configuration."""
    secrets = image / SECRETS
    secrets.mkdir(parents=True)
    (secrets / "token").write_text(shipped.token(side))
    shutil.copy(plane.authority, secrets / "ca.crt")
    (secrets / "namespace").write_text("kube-system")
    (image / "etc/podium").mkdir()
    shutil.copy(shipped.DEPLOY / "overlays/beside/config.yaml", image / "etc/podium/config.yaml")
    (image / "dev/urandom").exists() or subprocess.run(
        ["mknod", "-m", "644", image / "dev/urandom", "c", "1", "9"], check=True
    )


def in_image(build, server, folder):
    """The container of the Deployment: its command and arguments, user and environment."""
    host, _, port = server.removeprefix("https://").partition(":")
    deployment = next(
        each
        for each in shipped.objects((shipped.DEPLOY / "base/deployment.yaml").read_text())
        if each["kind"] == "Deployment"
    )
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    environment = {
        **build.environment, "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port
    }  # fmt: skip
    command = [images.CHROOT, f"--userspec={build.user}", str(build.image), *container["command"]]
    secure_port = free_port()
    flags = ["--bind-address=127.0.0.1", f"--secure-port={secure_port}", "--logging-format=text"]
    settings = [f"{name}={value}" for name, value in environment.items()]
    scheduler = Scheduler(
        ["env", "--ignore-environment", *settings, *command, *container["args"], *flags],
        folder / "podium.log",
    )
    scheduler.port = secure_port
    return scheduler
