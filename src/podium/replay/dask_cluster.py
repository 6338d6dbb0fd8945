"""Runs variants on a Dask cluster: ``pip install podium[dask]``, there and here."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from podium.errors import ReplayError
from podium.replay.engine import Progress
from podium.replay.lines import Trace
from podium.replay.result import Result
from podium.replay.running import DIED, Outcome
from podium.replay.variants import Variant, packed, replay_variant

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS: Final = 10


class DaskCluster:
    """A Dask cluster that runs variants; raises ``ReplayError`` if it does not answer."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at this address, such as tcp://host:8786."""
        self._client = _connected(address)
        if not self._client.ncores():
            self._client.close()
            raise ReplayError(f"the Dask scheduler at {address} has no workers: start some")

    def run(
        self, trace: Trace, variants: Sequence[Variant], progress: Progress
    ) -> Iterator[Outcome]:
        """Run all variants, and disconnect.

        Dask runs the work of a worker that dies on others; a variant that ends several workers
        fails.
        """
        from distributed import as_completed

        with self._client as client:
            data = client.scatter(packed(trace), broadcast=True, hash=False)
            futures = {
                client.submit(replay_variant, data, variant, pure=False): number
                for number, variant in enumerate(variants)
            }
            for done, future in enumerate(as_completed(futures, loop=client.loop), 1):
                progress(done * len(trace.lines))
                yield Outcome(futures[future], _result_of(future))


def _connected(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise ReplayError("--dask needs Dask: pip install 'podium[dask]'") from error
    url = urlsplit(address)
    try:
        # Without this, a client that finds no scheduler waits once more when it is deleted.
        socket.create_connection((url.hostname or "", url.port or 0), CONNECT_SECONDS).close()
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ReplayError(
            f"no Dask scheduler answers at {address}: give an address such as tcp://10.0.0.5:8786, "
            "start a scheduler with `dask scheduler`, and workers with `dask worker ADDRESS`"
        ) from error


def _result_of(future: Future) -> Result | ReplayError:
    from distributed import KilledWorker

    try:
        result: Result = future.result()
        return result
    except KilledWorker:
        return ReplayError(DIED)
    except ReplayError as error:
        return error
    except Exception as error:  # from Dask: its scheduler is gone, or a worker lacks podium
        return ReplayError(f"Dask failed: {type(error).__name__}: {error}")
