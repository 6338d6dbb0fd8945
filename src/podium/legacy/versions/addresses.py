"""healthzBindAddress and metricsBindAddress: plain HTTP ports that no version serves any more."""

from typing import Protocol

from podium.config.version import Notes


class BindAddresses(Protocol):
    """The top of a version that had them."""

    @property
    def healthz_bind_address(self) -> str: ...
    @property
    def metrics_bind_address(self) -> str: ...


def warn_of(given: BindAddresses, notes: Notes) -> None:
    for path, address in _given(given):
        if not _is_off(address):
            message = "has no effect: health and metrics are served over HTTPS on --secure-port"
            notes.warnings.add(path, message)


def refuse(given: BindAddresses, notes: Notes) -> None:
    for path, address in _given(given):
        if not _is_off(address):
            detail = "must be empty or with an explicit 0 port"
            advice = "health and metrics are served over HTTPS on --secure-port"
            notes.problems.invalid(path, address, f"{detail}; {advice}")


def _given(given: BindAddresses) -> tuple[tuple[str, str], ...]:
    return (
        ("healthzBindAddress", given.healthz_bind_address),
        ("metricsBindAddress", given.metrics_bind_address),
    )


def _is_off(address: str) -> bool:
    return not address or address.rpartition(":")[::2] == (address[:-2], "0")
