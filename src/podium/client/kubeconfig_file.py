"""One kubeconfig file as typed values; `kubeconfig.py` merges several of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from podium.api.manifests import MAX_BYTES, checked_text, documents
from podium.errors import CredentialsError, PodiumError


class Cluster(msgspec.Struct, rename="kebab", frozen=True):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class Variable(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class Exec(msgspec.Struct, rename="camel", frozen=True):
    command: str
    api_version: str = ""
    args: tuple[str, ...] | None = None
    env: tuple[Variable, ...] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class User(msgspec.Struct, rename="kebab", frozen=True):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    exec: Exec | None = None
    username: str = ""
    auth_provider: Any = None
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] | None = msgspec.field(default=None, name="as-groups")


class Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: Cluster | None = None


class NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: User | None = None


class NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: Context | None = None


class File(msgspec.Struct, rename="kebab", frozen=True):
    """A kubeconfig file; lists may be null, as kubectl writes empty ones."""

    clusters: tuple[NamedCluster, ...] | None = None
    users: tuple[NamedUser, ...] | None = None
    contexts: tuple[NamedContext, ...] | None = None
    current_context: str = ""


def read(path: Path) -> File:
    """Read a file; raise ``FileNotFoundError``, or ``CredentialsError`` for anything else."""
    try:
        return msgspec.convert(_document(path), File)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CredentialsError(f"{path}: cannot be read: {error}") from error
    except msgspec.ValidationError as error:
        raise CredentialsError(f"{path}: not a kubeconfig: {_explained(error)}") from error
    except PodiumError as error:
        raise CredentialsError(f"{path}: {' '.join(str(error).split())}") from error


def _document(path: Path) -> Any:
    """Return the only document of the file; an empty one if the file has no content."""
    with path.open("rb") as file:
        found = documents(checked_text(file.read(MAX_BYTES + 1)))
    if len(found) > 1:
        raise PodiumError(f"not a kubeconfig: it has {len(found)} documents, not one")
    return found[0] if found else {}


def _explained(error: msgspec.ValidationError) -> str:
    reason, _, path = str(error).partition(" - at `$")
    return f"{path.rstrip('`').lstrip('.')}: {reason}" if path else reason
