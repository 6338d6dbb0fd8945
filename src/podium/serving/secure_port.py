"""The secure port: its certificates and authorities, their renewal, and the guard of its paths."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from cryptography import x509

from podium.clock import Clock, Deadline, sleep
from podium.errors import ApiError, Forbidden, NotFound, PodiumError, ServingError
from podium.logs import get_logger
from podium.serving import delegation, secure_context
from podium.serving.authentication import Authenticator
from podium.serving.authorization import Authorizer
from podium.serving.guard import Guard
from podium.serving.key_pair import (
    KeyPair,
    read_file,
    read_pair,
    utc_now,
    validity_warning,
)
from podium.serving.options import AuthenticationOptions, ServingOptions
from podium.serving.reviews import Reviews
from podium.serving.secure_context import Content, SecureContext
from podium.serving.self_signed import own_pair
from podium.serving.trust import Authorities, Proxies, Trust

log = get_logger(__name__)

T = TypeVar("T")
Pairs = tuple[KeyPair, tuple[tuple[KeyPair, tuple[str, ...]], ...]]

LOOK_SECONDS: Final = 1.0  # how often the files are checked
LOOK_UP_SECONDS: Final = 30.0  # how often the ConfigMap is read
FIRST_LOOK_UP_SECONDS: Final = 5.0  # the start does not wait longer for an API server that hangs


class SecurePort:
    """Everything about the secure port except its endpoints.

    ``open`` once; ``run`` keeps certificates and authorities current, until it is
    cancelled. A file that cannot be used after a change is reported, and the content before it
    stays in use. A broken certificate does not keep an authority from being replaced, or withdrawn.
    """

    def __init__(self, options: ServingOptions, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self.context = SecureContext()
        authentication, authorization = options.authentication, options.authorization
        self._authenticating = delegation.connect(
            authentication.kubeconfig, "authentication", clock
        )
        self._authorizing = delegation.connect(authorization.kubeconfig, "authorization", clock)
        self._pair: Callable[[], KeyPair] | None = None
        self._found_in_cluster = Trust()
        self._content: Content | None = None
        self._leaves_by_source: dict[str, x509.Certificate] = {}
        self._reported: dict[str, str] = {}  # by subject: the last problem, logged once
        self.guard = Guard(
            clock,
            Authenticator(
                clock,
                lambda: self._content.trust if self._content is not None else Trust(),
                Reviews(self._authenticating) if self._authenticating is not None else None,
                authentication.cache_seconds,
            ),
            Authorizer(
                clock,
                authorization,
                Reviews(self._authorizing) if self._authorizing is not None else None,
            ),
        )

    async def open(self) -> None:
        """Load certificates and authorities; raise ``PodiumError`` if one cannot be used."""
        self._warn_about_missing_kubeconfigs()
        self._pair = self._pair_source()
        if self._looks_up:
            try:
                await self._look_up(FIRST_LOOK_UP_SECONDS)
            except (ApiError, ServingError) as error:
                if not self._options.authentication.tolerates_lookup_failure:
                    raise ServingError(
                        f"unable to look up configmap {delegation.CONFIG_MAP}: {error}"
                    ) from error
                self._report_lookup(error)
        self._renew()

    async def close(self) -> None:
        for connection in (self._authenticating, self._authorizing):
            if connection is not None:
                await connection.close()

    async def run(self) -> None:
        """Keep certificates and authorities current; an API server that hangs delays no file."""
        await asyncio.gather(self._watch_files(), self._watch_cluster())

    async def _watch_files(self) -> None:
        while True:
            await sleep(self._clock, LOOK_SECONDS)
            try:
                self._renew()
            except Exception as error:  # a file that breaks a library must not end the renewal
                self._report("files", f"{_reason(error)}; what was loaded before stays in use")

    async def _watch_cluster(self) -> None:
        while self._looks_up:
            await sleep(self._clock, LOOK_UP_SECONDS)
            try:
                await self._look_up(LOOK_UP_SECONDS)
            except Exception as error:  # nor must an answer that breaks one
                self._report_lookup(error)

    # --- certificates and authorities ------------------------------------------------------------

    def _renew(self) -> None:
        """Build a new context if a file or the ConfigMap has changed."""
        used = self._content
        used_pairs, used_trust = ((used.pair, used.by_name), used.trust) if used else (None, None)
        pair, by_name = self._usable(self._read_pairs, _check_pairs, used_pairs)
        trust = self._usable(self._read_trust, Trust.check, used_trust)
        content = Content(pair, by_name, trust)
        if content == used:
            self._report_validity()
        else:
            self.context.current = secure_context.build(content, self._options.tls)
            self._report_loaded(content)
            self._content = content
        self._reported.pop("files", None)

    def _usable(self, read: Callable[[], T], check: Callable[[T], None], used: T | None) -> T:
        """Return what is read; if it cannot be used, report that and return what is in use."""
        subject = read.__name__
        try:
            found = read()
            if found != used:  # checking a key takes milliseconds
                check(found)
        except ServingError as error:
            if used is None:
                raise
            self._report(subject, f"{error}; what was loaded before stays in use")
            return used
        self._reported.pop(subject, None)
        return found

    def _read_pairs(self) -> Pairs:
        assert self._pair is not None
        pair = self._pair()
        by_name = tuple((read_pair(each), each.names) for each in self._options.tls.by_name)
        return pair, by_name

    def _read_trust(self) -> Trust:
        """Return the authorities: of files where flags name them, of the cluster otherwise."""
        options, found = self._options.authentication, self._found_in_cluster
        clients, proxies = found.clients, found.proxies
        if options.client_authority:
            clients = _authorities(options.client_authority, "--client-ca-file")
        header = options.request_header
        if header.authority:
            bundle = _authorities(header.authority, "--requestheader-client-ca-file")
            proxies = Proxies(bundle, header)
        return Trust(clients, proxies)

    def _pair_source(self) -> Callable[[], KeyPair]:
        tls = self._options.tls
        if tls.files is not None:
            files = tls.files
            return lambda: read_pair(files)
        return own_pair(tls.directory, self._options.bind_address, utc_now(self._clock.now()))

    def _report_loaded(self, content: Content) -> None:
        for source in self._leaves_by_source:
            self._reported.pop(source, None)
        pairs = (content.pair, *(pair for pair, _ in content.by_name))
        self._leaves_by_source = {pair.source: pair.leaf() for pair in pairs}
        self._report_validity()
        if self._content is not None:
            log.info("Loaded serving certificates and client authorities again")

    def _report_validity(self) -> None:
        """Warn once about each certificate that is not valid now; it may expire while in use."""
        for source, leaf in self._leaves_by_source.items():
            warning = validity_warning(leaf, utc_now(self._clock.now()))
            if warning:
                hint = "clients that verify it will refuse it; replace the file"
                self._report(source, f"{source}: {warning}; {hint}")

    # --- the cluster -----------------------------------------------------------------------------

    @property
    def _looks_up(self) -> bool:
        options = self._options.authentication
        is_complete = options.client_authority and options.request_header.authority
        return self._authenticating is not None and not options.skips_lookup and not is_complete

    async def _look_up(self, seconds: float) -> None:
        assert self._authenticating is not None
        try:
            async with Deadline(self._clock, seconds):
                found = await delegation.look_up(self._authenticating)
        except TimeoutError as error:
            raise ServingError(f"no answer within {seconds:g} s") from error
        found.check()
        self._found_in_cluster = found
        self._report_missing(found)

    def _report_lookup(self, error: Exception) -> None:
        what = f"cannot look up client authorities in configmap {delegation.CONFIG_MAP}"
        are_known = self._found_in_cluster != Trust()
        now = "those known before still count" if are_known else "none of them counts"
        again = f"looking again in {LOOK_UP_SECONDS:g} s{_remedy(error)}"
        self._report("lookup", f"{what}: {_reason(error)}; {now}, {again}")

    def _report_missing(self, found: Trust) -> None:
        options = self._options.authentication
        missing = []
        if found.clients is None and not options.client_authority:
            missing.append("client-ca-file")
        if found.proxies is None and not options.request_header.authority:
            missing.append("requestheader-client-ca-file")
        if missing:
            names = " and ".join(missing)
            self._report(
                "lookup",
                f"configmap {delegation.CONFIG_MAP} has no {names}: nobody is authenticated by "
                f"such certificates; start kube-apiserver with --{' and --'.join(missing)}",
            )
        else:
            self._reported.pop("lookup", None)

    def _report(self, subject: str, problem: str) -> None:
        if self._reported.get(subject) != problem:
            self._reported[subject] = problem
            log.warning(problem)

    def _warn_about_missing_kubeconfigs(self) -> None:
        options = self._options.authentication
        if self._authenticating is None and not options.skips_lookup:
            _warn_about_lookup(options)
        if self._authorizing is None:
            log.warning(
                "No authorization-kubeconfig provided, so SubjectAccessReview of authorization "
                "tokens won't work."
            )


def _warn_about_lookup(options: AuthenticationOptions) -> None:
    where = "configmap/extension-apiserver-authentication in kube-system"
    start = "No authentication-kubeconfig provided in order to lookup"
    if not options.client_authority:
        log.warning(
            f"{start} client-ca-file in {where}, so client certificate authentication won't work."
        )
    if not options.request_header.authority:
        log.warning(
            f"{start} requestheader-client-ca-file in {where}, so request-header client "
            "certificate authentication won't work."
        )


def _check_pairs(pairs: Pairs) -> None:
    pair, by_name = pairs
    for each in (pair, *(named for named, _ in by_name)):
        each.leaf()


def _reason(error: Exception) -> str:
    """Return the message; with its class if podium has not raised the error on purpose."""
    return str(error) if isinstance(error, PodiumError) else f"{type(error).__name__}: {error}"


def _remedy(error: Exception) -> str:
    if isinstance(error, Forbidden):
        return "; bind the Role extension-apiserver-authentication-reader of kube-system"
    if isinstance(error, NotFound):
        return "; kube-apiserver writes it when it starts: is this its address?"
    return ""


def _authorities(path: str, flag: str) -> Authorities:
    return Authorities(read_file(path, f"the authority of {flag}"), f"{flag} {path}")
