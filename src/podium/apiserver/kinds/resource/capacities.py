"""Checks of how much of a device's capacity one request may consume."""

from __future__ import annotations

from podium.api import quantity
from podium.apiserver import statuses
from podium.apiserver.kinds.resource.values import Found
from podium.apiserver.statuses import Json
from podium.release import V1_37, Release

MOST_VALUES = 10
_BOTH = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the '
    "same time"
)
_NEGATIVE = "must be greater than or equal to 0"
_TOO_LARGE = f"must not be larger than {quantity.MAX_INT64}"


def capacity_causes(capacity: Json, path: str, *, is_shared: bool, release: Release) -> Found:
    """Check the request policy of a capacity; only a shared device may have one."""
    policy, where = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    if not is_shared:
        yield statuses.not_allowed(where, "allowMultipleAllocations must be true")
        return
    values, range_ = policy.get("validValues"), policy.get("validRange")
    if values and range_ is not None:
        yield statuses.not_allowed(where, _BOTH)
        return
    for name, one in (("validValues", values or None), ("validRange", range_)):
        if one is None:
            continue
        if policy.get("default") is None:
            yield statuses.required(f"{where}.default", f"required when {name} is defined")
        elif name == "validValues":
            yield from _values(policy, capacity, f"{where}.validValues")
        else:
            yield from _Range(policy, capacity, f"{where}.validRange", release).causes()


def _values(policy: Json, capacity: Json, path: str) -> Found:
    values = policy["validValues"]
    amounts = [quantity.parse(one) for one in values]
    for index in range(1, len(values)):
        if amounts[index - 1] > amounts[index]:
            detail = "values must be sorted in ascending order"
            yield statuses.bad_value(f"{path}[{index}]", _text(values[index]), detail)
    is_short = len(values) <= MOST_VALUES
    if is_short:
        yield from _options(policy, capacity, path)
    else:
        yield statuses.too_many(path, len(values), MOST_VALUES)
    if not is_short or quantity.parse(policy["default"]) not in amounts:
        detail = "default value is not valid according to the requestPolicy"
        yield statuses.bad_value(path, _text(policy["default"]), detail)


def _options(policy: Json, capacity: Json, path: str) -> Found:
    most = quantity.parse(capacity["value"])
    for index, one in enumerate(policy["validValues"]):
        if quantity.parse(one) > most:
            detail = f"option is larger than capacity value: {_text(capacity['value'])}"
            yield statuses.bad_value(f"{path}[{index}]", _text(one), detail)
    seen = set()
    for index, one in enumerate(policy["validValues"]):
        whole = quantity.value(quantity.parse(one))
        if whole in seen:
            yield statuses.duplicate(f"{path}[{index}]", str(whole))
        seen.add(whole)


class _Range:
    """The valid range of a policy, beside its default and the whole capacity."""

    def __init__(self, policy: Json, capacity: Json, path: str, release: Release) -> None:
        self._path = path
        self._is_older = release < V1_37
        self._range = policy["validRange"]
        self._texts = {**self._range, "default": policy["default"], "all": capacity["value"]}
        self._amounts = {name: quantity.parse(one) for name, one in self._texts.items()}

    def causes(self) -> Found:
        if self._range.get("min") is None:
            yield statuses.required(f"{self._path}.min", "required when validRange is defined")
            return
        yield from self._bounds()
        if "step" in self._range:
            yield from self._step()

    def _bounds(self) -> Found:
        yield from self._above("min", "min", "all", "min is larger than capacity value")
        if self._amounts["default"] < self._amounts["min"]:
            where = "min" if self._is_older else "default"
            yield self._bad(where, "default", "default is less than min", "min")
        if "max" in self._range:
            yield from self._above("max", "min", "max", "min is larger than max")
            yield from self._above("max", "max", "all", "max is larger than capacity value")
            where = "max" if self._is_older else "default"
            yield from self._above(where, "default", "max", "default is more than max")

    def _above(self, where: str, name: str, limit: str, words: str) -> Found:
        if self._amounts[name] > self._amounts[limit]:
            yield self._bad(where, name, words, limit)

    def _bad(self, where: str, name: str, words: str, limit: str) -> statuses.Cause:
        detail = f"{words}: {_text(self._texts[limit])}"
        return statuses.bad_value(f"{self._path}.{where}", _text(self._texts[name]), detail)

    def _named(self) -> list[str]:
        return [name for name in ("default", "min", "max", "step") if name in self._texts]

    def _step(self) -> Found:
        where, amounts = f"{self._path}.step", self._amounts
        text = _text(self._texts["step"])
        if amounts["step"] <= 0 and not self._is_older:
            yield statuses.bad_value(where, text, "must be greater than zero")
            return
        if amounts["min"] + amounts["step"] > amounts["all"]:
            added = quantity.plus(self._texts["min"], self._texts["step"])
            detail = f"one step {added} is larger than capacity value: {_text(self._texts['all'])}"
            yield statuses.bad_value(where, text, detail)
        unsafe = [] if self._is_older else [*self._outside_int64()]
        yield from unsafe
        if not unsafe:
            yield from self._not_a_multiple()

    def _outside_int64(self) -> Found:
        for name in self._named():
            amount, text = self._amounts[name], _text(self._texts[name])
            if amount < 0:
                yield statuses.bad_value(f"{self._path}.{name}", text, _NEGATIVE)
            elif amount > quantity.MAX_INT64 * quantity.NANO:
                yield statuses.bad_value(f"{self._path}.{name}", text, _TOO_LARGE)

    def _not_a_multiple(self) -> Found:
        whole = {name: quantity.value(amount) for name, amount in self._amounts.items()}
        for name in ("default", "max"):
            # Where 1.36 would divide by zero it answers 500; here such a step is accepted.
            if name in whole and whole["step"] and (whole[name] - whole["min"]) % whole["step"]:
                words = f"({_text(self._texts['step'])}) from ({_text(self._texts['min'])})"
                detail = f"value is not a multiple of a given step {words}"
                yield statuses.bad_value(f"{self._path}.step", _text(self._texts[name]), detail)


def _text(amount: str | int | float) -> str:
    return quantity.canonical(amount)
