"""Clusters with one scheduler each: podium on both kinds of cluster, and kube-scheduler."""

import contextlib

import pytest

from tests.support.control_plane import callers, kubeadm, shipped, sides
from tests.support.control_plane.audit import audited_plane
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import (
    USER,
    deployed,
    free_port,
    kube_scheduler,
    podium,
)


@contextlib.contextmanager
def podium_on_embedded(binaries, folder):
    release = binaries.release
    with (
        sides.embedded(folder, release=release) as side,
        podium(folder, side.kubeconfig, release=release),
    ):
        yield side


@contextlib.contextmanager
def podium_on_real(binaries, folder):
    """podium with the rights that deploy/ grants; a request that these do not cover is an error.

    It serves on the secure port, with the flags of kubeadm's manifest.
    """
    with audited_plane(binaries, folder) as audited:
        plane, side = audited.plane, audited.side
        account, port = shipped.install(plane, side), free_port()
        with deployed(folder, account, f"--secure-port={port}", release=binaries.release):
            yield side
            assert kubeadm.probe(port) == dict.fromkeys(kubeadm.PROBES, 200)
            assert callers.ask(port, "/metrics").code == 403
        refused = audited.all_refused(shipped.USER)
        assert not refused, refused


@contextlib.contextmanager
def kube_scheduler_on_real(binaries, folder):
    with ControlPlane(binaries) as plane:
        try:
            scheduler = kube_scheduler(binaries, folder, plane.kubeconfig_for(USER))
        except NoControlPlane as missing:
            pytest.skip(str(missing))
        with scheduler:
            yield sides.real(plane)


ALL = [podium_on_real, podium_on_embedded, kube_scheduler_on_real]
