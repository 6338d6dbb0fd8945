"""How much capacity a request consumes of a device that several claims can share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from podium.api import quantity
from podium.api.devices import CapacityRequestPolicyRange, DeviceCapacity
from podium.api.meta import Quantity
from podium.api.quantity import MAX_INT64, MILLI, NANO, Style
from podium.devices.rules import DeviceRules
from podium.errors import AllocationError

Amounts = Mapping[str, int]  # nano units by the name of the capacity

NO_AMOUNTS: Final[Amounts] = {}

_NOT_REPRESENTABLE: Final = (
    "capacity request cannot be represented in the device's range arithmetic"
)
_NEGATIVE: Final = "capacity value is negative"


@dataclass(frozen=True, slots=True)
class Consumption:
    """The capacity of one device that one request consumes, including what it did not ask for."""

    written: dict[str, Quantity]
    amounts: dict[str, int]
    limits: dict[str, int]

    def fits(self, held: Amounts = NO_AMOUNTS, chosen: Amounts = NO_AMOUNTS) -> bool:
        """Whether there is room beside what is held by others and chosen in this attempt."""
        limits = self.limits
        return all(
            amount + held.get(name, 0) + chosen.get(name, 0) <= limits[name]
            for name, amount in self.amounts.items()
        )


NO_CONSUMPTION: Final = Consumption({}, {}, {})


def consumption(
    requests: Mapping[str, Quantity], capacity: Mapping[str, DeviceCapacity], rules: DeviceRules
) -> Consumption | None:
    """Return what a request consumes; None if it names an unknown capacity or breaks a policy.

    Raises ``AllocationError`` for a request that no device can serve.
    """
    if not requests.keys() <= capacity.keys():
        return None
    if not capacity:
        return NO_CONSUMPTION
    written: dict[str, Quantity] = {}
    for name in sorted(capacity):
        written[name] = _consumed(name, requests.get(name), capacity[name], rules)
    if any(_breaks_policy(written[name], capacity[name], rules) for name in written):
        return None
    amounts = {name: quantity.parse(amount) for name, amount in written.items()}
    limits = {name: quantity.parse(capacity[name].value) for name in written}
    return Consumption(written, amounts, limits)


def _consumed(
    name: str, request: Quantity | None, capacity: DeviceCapacity, rules: DeviceRules
) -> Quantity:
    try:
        amount = _rounded(request, capacity, rules)
        if rules.rejects_bad_capacity_requests and quantity.parse(amount) < 0:
            raise AllocationError(_NEGATIVE)
    except AllocationError as error:
        raise AllocationError(f'capacity "{name}": {error}') from None
    return amount


def _rounded(request: Quantity | None, capacity: DeviceCapacity, rules: DeviceRules) -> Quantity:
    """Return the request as the policy rounds it up; without a request, the default."""
    policy = capacity.request_policy
    if request is None:
        default = None if policy is None else policy.default
        return capacity.value if default is None else default
    if policy is None:
        return request
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _to_range(request, policy.valid_range, rules)
    wanted = quantity.parse(request)
    return next((each for each in policy.valid_values if wanted <= quantity.parse(each)), request)


def _to_range(
    request: Quantity, allowed: CapacityRequestPolicyRange, rules: DeviceRules
) -> Quantity:
    least, step, wanted = allowed.min, allowed.step, quantity.parse(request)
    if least is not None and wanted < quantity.parse(least):
        return least
    if step is None:
        return request
    unit = _unit(allowed, rules)
    if rules.rejects_bad_capacity_requests:
        _check_range(request, allowed, unit)
    start, width = _in_units(least, unit), _width(step, unit)
    steps = -((start - _in_units(request, unit)) // width)
    style = quantity.style(step) if rules.keeps_step_format else Style.BINARY_SI
    return quantity.format((start + steps * width) * unit, style)


def _check_range(request: Quantity, allowed: CapacityRequestPolicyRange, unit: int) -> None:
    """Raise if the API's 64-bit arithmetic cannot round the request."""
    text = quantity.canonical(request)
    if unit == MILLI and not _is_milli(request):
        raise _unrepresentable(f"request {text} is not a representable milli value")
    if quantity.parse(request) > MAX_INT64 * NANO:
        raise _unrepresentable(f"request {text} exceeds MaxInt64")
    start, width = _in_units(allowed.min, unit), _width(allowed.step, unit)
    if start - (start - _in_units(request, unit)) // width * width > MAX_INT64:
        passed = "the milli-value range" if unit == MILLI else "MaxInt64"
        raise _unrepresentable(f"rounding request {text} up to the next step passes {passed}")


def _unrepresentable(detail: str) -> AllocationError:
    return AllocationError(f"{_NOT_REPRESENTABLE}: {detail}")


def _breaks_policy(amount: Quantity, capacity: DeviceCapacity, rules: DeviceRules) -> bool:
    policy = capacity.request_policy
    # Upstream compares how the default is written, not its value: "1000m" is not "1".
    if policy is None or (policy.default is not None and _text(amount) == _text(policy.default)):
        return False
    consumed = quantity.parse(amount)
    if policy.valid_range is not None:
        return _is_outside(amount, policy.valid_range, rules)
    values = policy.valid_values
    return bool(values) and all(consumed != quantity.parse(each) for each in values)


def _is_outside(amount: Quantity, allowed: CapacityRequestPolicyRange, rules: DeviceRules) -> bool:
    if allowed.max is not None and quantity.parse(amount) > quantity.parse(allowed.max):
        return True
    if allowed.step is None:
        return False
    unit = _unit(allowed, rules)
    if unit == MILLI and not _is_milli(amount):
        return True
    offset = _in_units(amount, unit) - _in_units(allowed.min, unit)
    return offset % _width(allowed.step, unit) != 0


def _unit(allowed: CapacityRequestPolicyRange, rules: DeviceRules) -> int:
    """Return the unit of the arithmetic: thousandths if the range can be written in them."""
    if not rules.fractional_capacity_range:
        return NANO
    written = (allowed.min, allowed.max, allowed.step)
    return MILLI if all(each is None or _is_milli(each) for each in written) else NANO


def _is_milli(amount: Quantity) -> bool:
    nano = quantity.parse(amount)
    return nano % MILLI == 0 and abs(nano) <= MAX_INT64 * MILLI


def _in_units(amount: Quantity | None, unit: int) -> int:
    """Return an amount in a unit, rounded up as upstream does."""
    nano = 0 if amount is None else quantity.parse(amount)
    return quantity.milli(nano) if unit == MILLI else quantity.value(nano)


def _width(step: Quantity | None, unit: int) -> int:
    return max(1, _in_units(step, unit))  # the API refuses steps of 0


def _text(amount: Quantity) -> str:
    return str(amount).strip()
