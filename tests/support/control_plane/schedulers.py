"""Clusters with one scheduler each: podium on both kinds of cluster, and kube-scheduler."""

import contextlib

import pytest

from tests.support.control_plane import sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import USER, kube_scheduler, podium


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
    with (
        ControlPlane(binaries) as plane,
        podium(folder, plane.kubeconfig_for(USER), release=binaries.release),
    ):
        yield sides.real(plane)


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
