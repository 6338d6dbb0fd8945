"""Credentials that change while a process runs: a token in a file, and exec plugins.

An exec plugin is a program that prints credentials, named in a kubeconfig under `user.exec`
(`client.authentication.k8s.io/v1` and `v1beta1`).
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.times import parse_time
from podium.clock import Clock, Deadline
from podium.errors import CredentialsError, InvalidTime
from podium.files import read_small
from podium.tls import Certificate

REREAD_SECONDS = 60.0


class TokenFile:
    """A bearer token in a file that is renewed, as kubelets do for service accounts.

    The file is read again every minute, and at once when the API refuses the token.
    """

    def __init__(self, path: Path, clock: Clock, source: str) -> None:
        self._path = path
        self._clock = clock
        self._source = source
        self._token = ""
        self._read_at = float("-inf")

    async def token(self) -> str:
        if self._clock.now() - self._read_at >= REREAD_SECONDS:
            self._read()
        return self._token

    def refuse(self) -> bool:
        before = self._token
        self._read()
        return self._token != before

    def certificate(self) -> None:
        return None

    def _read(self) -> None:
        """Read the file; if that fails, keep the token: the file may just be being replaced."""
        try:
            found = read_small(self._path).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token:
                return
            message = f"{self._source}: the token file cannot be read: {error}"
            raise CredentialsError(message) from error
        if not found and not self._token:
            raise CredentialsError(f"{self._source}: the token file {self._path} is empty")
        self._token = found or self._token
        self._read_at = self._clock.now()


GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
TIMEOUT_SECONDS = 60.0
_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run; ``source`` is the file and the user that name it."""

    api_version: str
    command: str
    args: tuple[str, ...]
    env: dict[str, str]
    install_hint: str
    source: str
    cluster: dict[str, Any] | None = field(default=None)  # the cluster, if the program asks for it


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _Credential(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: _Status


class ExecLogin:
    """Credentials that a program prints; it is run again when they expire or are refused."""

    def __init__(self, program: Program, clock: Clock) -> None:
        self._program = program
        self._clock = clock
        self._turn = asyncio.Lock()
        self._known: _Status | None = None
        self._expires = float("inf")

    async def token(self) -> str:
        async with self._turn:  # many requests may find that the answer has expired
            if self._known is None or self._clock.now() >= self._expires:
                self._keep(await self._run())
        return self._known.token if self._known else ""

    def refuse(self) -> bool:
        had_one, self._known = self._known is not None, None
        return had_one

    def certificate(self) -> Certificate | None:
        if self._known is None or not self._known.client_certificate_data:
            return None
        known = self._known
        return Certificate(known.client_certificate_data.encode(), known.client_key_data.encode())

    def _keep(self, status: _Status) -> None:
        try:
            text = status.expiration_timestamp
            self._expires = parse_time(text) / 1e9 if text else float("inf")
        except InvalidTime as error:
            raise self._fault(f"its expirationTimestamp is not a time: {error}") from error
        if not status.token and not (status.client_certificate_data and status.client_key_data):
            raise self._fault("it printed neither a token nor a client certificate with its key")
        self._known = status

    async def _run(self) -> _Status:
        try:
            printed = await self._output()
            found = msgspec.json.decode(printed, type=_Credential)
        except UNREADABLE as error:
            raise self._fault(f"it did not print an ExecCredential: {error}") from error
        if (found.kind, found.api_version) != ("ExecCredential", self._program.api_version):
            got = f"{found.kind} of {found.api_version}"
            raise self._fault(
                f"it printed {got}, not ExecCredential of {self._program.api_version}"
            )
        return found.status

    async def _output(self) -> bytes:
        try:
            async with Deadline(self._clock, TIMEOUT_SECONDS):
                process = await self._start()
                try:
                    printed, said = await process.communicate()
                finally:
                    if process.returncode is None:
                        process.kill()
                        await process.wait()
        except TimeoutError as error:
            raise self._fault(f"it did not end within {TIMEOUT_SECONDS:.0f} s") from error
        if process.returncode:
            why = said.decode(errors="replace").strip()[-_SHOWN_CHARACTERS:]
            raise self._fault(f"it ended with code {process.returncode}: {why}")
        return printed

    async def _start(self) -> asyncio.subprocess.Process:
        program = self._program
        try:
            return await asyncio.create_subprocess_exec(
                program.command,
                *program.args,
                env={**os.environ, **program.env, "KUBERNETES_EXEC_INFO": _info(program)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
            )
        except (OSError, ValueError) as error:  # such as a variable with an impossible name
            hint = f"; {program.install_hint.strip()}" if program.install_hint else ""
            raise self._fault(f"it cannot be run: {error}{hint}") from error

    def _fault(self, why: str) -> CredentialsError:
        source, command = self._program.source, self._program.command
        return CredentialsError(f"{source}: exec plugin {command}: {why}")


def _info(program: Program) -> str:
    spec: dict[str, Any] = {"interactive": False}
    if program.cluster is not None:
        spec["cluster"] = program.cluster
    info = {"apiVersion": program.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(info).decode()
