"""Words for failed requests: which server, what went wrong, and what to check."""

from __future__ import annotations

import ssl

import aiohttp

from podium.client.endpoint import Endpoint
from podium.client.wire import CannotConnect
from podium.errors import Unauthorized, Unreachable


def unauthorized(endpoint: Endpoint, refusal: Unauthorized) -> Unauthorized:
    """Return the refusal with the server and the source of the credentials."""
    message = (
        f"{endpoint.source}: {endpoint.server} does not accept these "
        f"credentials ({refusal.message}): they are wrong or have expired; renew them"
    )
    return Unauthorized(message, refusal.code, refusal.reason)


def unreachable(endpoint: Endpoint, error: Exception, timeout_seconds: float) -> Unreachable:
    """Return the error for a request without an answer; it tells whether the request was sent."""
    why = str(error) or type(error).__name__
    cause = _cause(error)
    match cause:
        case ssl.SSLCertVerificationError():
            hint = "check certificate-authority-data and tls-server-name, and the server's name"
            why = f"its certificate is not trusted: {cause}; {hint}"
        case ssl.SSLError():
            hint = "is https:// right, and does the server want a client certificate?"
            why = f"TLS failed: {cause}; {hint}"
        case OSError() if cause is not error:
            why = f"cannot be reached: {cause}; is it running, and is the address right?"
        case TimeoutError():
            why = f"no answer within {timeout_seconds:g} s"
    sent = cause is error
    return Unreachable(f"{endpoint.source}: {endpoint.server}: {why}", sent)


def _cause(error: Exception) -> Exception:
    """Return why no connection could be made, or the error itself if there was one."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return error.certificate_error
        case aiohttp.ClientConnectorError():
            return error.os_error
        case CannotConnect(__cause__=OSError() as cause):
            return cause
    return error
