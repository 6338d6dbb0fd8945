"""Turns kubeconfig files into an `Endpoint`: merges several as kubectl does and chooses a context.

Paths are relative to the file that names them. Errors name the file, the context and what to do.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from podium.client.endpoint import Endpoint, FixedLogin, Login, is_host, server_address
from podium.client.kubeconfig_file import Cluster, Context, Exec, User, read
from podium.client.logins import VERSIONS, ExecLogin, Program, TokenFile
from podium.clock import Clock
from podium.errors import CredentialsError
from podium.files import read_small
from podium.tls import Certificate, Tls

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class From(Generic[T]):
    """A part of a configuration, and the file that it is in."""

    value: T
    file: Path


@dataclass(slots=True)
class Kubeconfig:
    """All files merged: a later file adds to an earlier one and changes nothing in it."""

    paths: Sequence[Path]
    clusters: dict[str, From[Cluster]] = field(default_factory=dict)
    users: dict[str, From[User]] = field(default_factory=dict)
    contexts: dict[str, From[Context]] = field(default_factory=dict)
    current_context: str = ""

    @property
    def shown(self) -> str:
        return ", ".join(map(str, self.paths))

    def add(self, path: Path) -> None:
        found = read(path)
        for cluster in found.clusters or ():
            self.clusters.setdefault(cluster.name, From(cluster.cluster or Cluster(), path))
        for user in found.users or ():
            self.users.setdefault(user.name, From(user.user or User(), path))
        for context in found.contexts or ():
            self.contexts.setdefault(context.name, From(context.context or Context(), path))
        self.current_context = self.current_context or found.current_context


def load(explicit: Path | None, environment: Mapping[str, str] = os.environ) -> Kubeconfig:
    """Load the given file, else those of $KUBECONFIG, else the one in the home directory."""
    if explicit is not None:
        config = Kubeconfig([explicit])
        try:
            config.add(explicit)
        except FileNotFoundError as error:
            hint = "give the path of a kubeconfig"
            raise CredentialsError(f"{explicit}: there is no such file; {hint}") from error
        return config
    config = Kubeconfig(_default_paths(environment))
    for path in config.paths:
        try:
            config.add(path)
        except FileNotFoundError:
            continue  # $KUBECONFIG may name files that do not exist yet
    return config


def _default_paths(environment: Mapping[str, str]) -> list[Path]:
    listed = [Path(one) for one in environment.get("KUBECONFIG", "").split(os.pathsep) if one]
    return listed or [Path(environment.get("HOME", "~")).expanduser() / ".kube" / "config"]


def endpoint_of(config: Kubeconfig, clock: Clock, context: str = "") -> Endpoint:
    """Return the endpoint of a context: the current one unless another is named."""
    name = context or config.current_context
    if not name:
        hint = _among("context", config.contexts)
        raise CredentialsError(f"{config.shown}: there is no current context; {hint}")
    chosen = _entry(config, config.contexts, "context", name)
    source = f"{chosen.file}, context {name}"
    cluster = _entry(config, config.clusters, f"context {name}: cluster", chosen.value.cluster)
    user = From(User(), chosen.file)
    if chosen.value.user:
        user = _entry(config, config.users, f"context {name}: user", chosen.value.user)
    _refuse_unsupported(cluster.value, user.value, source)
    return Endpoint(
        server=server_address(cluster.value.server, source),
        source=source,
        tls=_tls(cluster, user, source),
        login=_login(cluster, user, clock, source),
        impersonate=_impersonation(user.value, source),
        namespace=chosen.value.namespace or "default",
    )


def _entry(config: Kubeconfig, among: Mapping[str, From[T]], what: str, name: str) -> From[T]:
    found = among.get(name)
    if found is None:
        hint = _among(what.rpartition(" ")[2], among)
        raise CredentialsError(f'{config.shown}: {what} "{name}" does not exist; {hint}')
    return found


def _among(what: str, named: Mapping[str, object]) -> str:
    return f"choose among: {', '.join(named)}" if named else f"the files have no {what}"


def _refuse_unsupported(cluster: Cluster, user: User, source: str) -> None:
    """Refuse what is not supported: leaving it out would make another connection."""
    reasons = {
        "proxy-url": (cluster.proxy_url, "connect directly"),
        "username and password": (user.username, "API servers no longer accept them: use a token"),
        "auth-provider": (user.auth_provider, "use an exec plugin"),
    }
    for what, (given, hint) in reasons.items():
        if given:
            raise CredentialsError(f"{source}: {what} is not supported; {hint}")
    if user.impersonate_groups and len(user.impersonate_groups) > 1:
        raise CredentialsError(f"{source}: more than one of as-groups is not supported")


def _tls(cluster: From[Cluster], user: From[User], source: str) -> Tls:
    where, who = cluster.value, user.value
    ca = _pem(
        "certificate-authority",
        where.certificate_authority_data,
        where.certificate_authority,
        From(source, cluster.file),
    )
    at = From(source, user.file)
    chain = _pem("client-certificate", who.client_certificate_data, who.client_certificate, at)
    key = _pem("client-key", who.client_key_data, who.client_key, at)
    if bool(chain) != bool(key):
        missing = "client-key" if chain else "client-certificate"
        raise CredentialsError(f"{source}: {missing} is missing; give both or neither")
    if where.tls_server_name and not is_host(where.tls_server_name):
        wrong = f'tls-server-name is "{where.tls_server_name}"; write the name of a host'
        raise CredentialsError(f"{source}: {wrong}")
    certificate = Certificate(chain, key) if chain else None
    return Tls(ca, where.insecure_skip_tls_verify, where.tls_server_name, certificate)


def _pem(what: str, data: str, file: str, at: From[str]) -> bytes:
    """Return the content of a ``-data`` field, else of the file, else b""."""
    try:
        if data:
            return base64.b64decode(data, validate=True)
        return read_small(at.file.parent / file) if file else b""
    except (binascii.Error, ValueError) as error:
        why = f"{what}-data is not base64: {error}"
        raise CredentialsError(f"{at.value}: {why}") from error
    except OSError as error:
        raise CredentialsError(f"{at.value}: {what} cannot be read: {error}") from error


def _login(cluster: From[Cluster], user: From[User], clock: Clock, source: str) -> Login:
    """Return the credentials in client-go's order: a token file, a token, an exec plugin."""
    who = user.value
    if who.token_file:
        return TokenFile(user.file.parent / who.token_file, clock, source)
    if who.token or who.exec is None:
        return FixedLogin(who.token)
    return ExecLogin(_program(who.exec, cluster, user.file, source), clock)


def _program(wanted: Exec, cluster: From[Cluster], file: Path, source: str) -> Program:
    if wanted.api_version not in VERSIONS:
        supported = " or ".join(VERSIONS)
        why = f'exec: apiVersion is "{wanted.api_version}"; {supported} is supported'
        raise CredentialsError(f"{source}: {why}")
    if wanted.interactive_mode == "Always":
        why = f"exec plugin {wanted.command} wants to ask a person, and there is none"
        raise CredentialsError(f"{source}: {why}; set interactiveMode: Never")
    # A command with a slash is a path relative to the file; others are found along $PATH.
    command = str(file.parent / wanted.command) if os.sep in wanted.command else wanted.command
    return Program(
        api_version=wanted.api_version,
        command=command,
        args=wanted.args or (),
        env={one.name: one.value for one in wanted.env or ()},
        install_hint=wanted.install_hint,
        source=source,
        cluster=_told(cluster) if wanted.provide_cluster_info else None,
    )


def _told(cluster: From[Cluster]) -> dict[str, Any]:
    """Return the description of the cluster that an exec plugin gets if it asks for it."""
    where = cluster.value
    told: dict[str, Any] = {"server": where.server}
    if where.tls_server_name:
        told["tls-server-name"] = where.tls_server_name
    if where.insecure_skip_tls_verify:
        told["insecure-skip-tls-verify"] = True
    ca = _pem(
        "certificate-authority",
        where.certificate_authority_data,
        where.certificate_authority,
        From("exec", cluster.file),
    )
    if ca:
        told["certificate-authority-data"] = base64.b64encode(ca).decode()
    return {**told, "config": None}


def _impersonation(user: User, source: str) -> dict[str, str]:
    given = {
        "Impersonate-User": user.impersonate,
        "Impersonate-Uid": user.impersonate_uid,
        "Impersonate-Group": (user.impersonate_groups or ("",))[0],
    }
    for name, value in given.items():
        if not value.isprintable():
            raise CredentialsError(f"{source}: {name} is not a line of text: {value!r}")
    return {name: value for name, value in given.items() if value}
