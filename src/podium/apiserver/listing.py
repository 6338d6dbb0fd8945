"""Lists: which objects a request selects, in pages and at which version."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from podium.apiserver import statuses
from podium.apiserver.api import Api
from podium.apiserver.requests import Continue, Query, Target, number, version
from podium.apiserver.selection import Selection, parse_fields, parse_labels
from podium.apiserver.statuses import Cause, Json, Refusal
from podium.apiserver.store import Listing
from podium.apiserver.watches import Item

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)
_MATCHES = ("", "Exact", "NotOlderThan")


class Page(NamedTuple):
    """A list, or a part of one, with its metadata."""

    items: list[Item]
    meta: Json


def selection_of(target: Target, query: Query) -> Selection:
    kind = target.kind
    fields = parse_fields(query.get("fieldSelector", ""), kind)
    labels = parse_labels(query.get("labelSelector", ""))
    convert = kind.from_stored if kind.stored_version else None
    return Selection(target.namespace, labels, fields, convert)


def list_page(api: Api, target: Target, query: Query) -> Page:
    """Return the objects that a request selects, at most ``limit``, with a token for the rest."""
    selection = selection_of(target, query)
    limit = max(number(query, "limit") or 0, 0)
    number(query, "timeoutSeconds")  # the value has no effect here, but must be a number
    listing, after = _listing(api, target, query)
    items = listing.items
    if after is not None:
        items = items[bisect_right(items, after, key=lambda item: item.key) :]
    chosen, left = _chosen(items, selection, limit)
    meta: Json = {"resourceVersion": str(listing.version)}
    if target.kind.custom:
        meta = {"continue": "", **meta}
    if left:
        meta["continue"] = Continue(listing.version, chosen[-1].key).encode()
        if selection.is_everything:
            meta["remainingItemCount"] = left
    return Page(chosen, meta)


def _chosen(items: list[Item], selection: Selection, limit: int) -> tuple[list[Item], int]:
    """Return at most ``limit`` selected objects, and how many objects come after the last.

    Whether one of those is selected as well shows on the next page.
    """
    if selection.is_everything:
        most = limit or len(items)
        return items[:most], max(0, len(items) - most)
    if not limit:
        return [one for one in items if selection.matches(one)], 0
    chosen: list[Item] = []
    for at, item in enumerate(items):
        if selection.matches(item):
            chosen.append(item)
            if len(chosen) == limit:
                return chosen, len(items) - at - 1
    return chosen, 0


def _listing(api: Api, target: Target, query: Query) -> tuple[Listing, tuple[str, str] | None]:
    store, storage = api.store, target.kind.storage
    wanted, match = version(query), query.get("resourceVersionMatch", "")
    _check_match(wanted, match, query)
    if token := query.get("continue", ""):
        return _continued(api, target, Continue.decode(token), wanted)
    # With a limit, a version means exactly that version, as before resourceVersionMatch existed.
    if match == "Exact" or (wanted and not match and number(query, "limit")):
        return _exactly(api, target, wanted), None
    if wanted is not None and wanted > store.version:
        raise statuses.too_new(wanted, store.version)
    return store.list(storage, target.namespace), None


def _exactly(api: Api, target: Target, wanted: int | None) -> Listing:
    try:
        return api.store.list(target.kind.storage, target.namespace, wanted)
    except Refusal as error:
        if error.code != 410:
            raise
        message = "The resourceVersion for the provided list is too old."
        raise statuses.expired(message) from None


def _continued(
    api: Api, target: Target, token: Continue, wanted: int | None
) -> tuple[Listing, tuple[str, str] | None]:
    if wanted:
        raise statuses.bad_request("specifying resource version is not allowed when using continue")
    store, storage = api.store, target.kind.storage
    if token.version < 0:
        return store.list(storage, target.namespace), token.after
    try:
        return store.list(storage, target.namespace, token.version), token.after
    except Refusal as error:
        if error.code != 410:
            raise
        refusal = statuses.expired(_TOO_OLD)
        refusal.list_meta = {"continue": Continue(-1, token.after).encode()}
        raise refusal from None


def _check_match(wanted: int | None, match: str, query: Query) -> None:
    causes = list(_match_causes(wanted, match, query))
    if causes:
        raise statuses.invalid("ListOptions", "meta.k8s.io", "", causes)


def _match_causes(wanted: int | None, match: str, query: Query) -> Iterator[Cause]:
    if match:
        yield from _set_match_causes(wanted, match, query)
    if "sendInitialEvents" in query:
        detail = "sendInitialEvents is forbidden for list"
        yield statuses.not_allowed("sendInitialEvents", detail)


def _set_match_causes(wanted: int | None, match: str, query: Query) -> Iterator[Cause]:
    name = "resourceVersionMatch"
    if wanted is None:
        detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        yield statuses.not_allowed(name, detail)
    if query.get("continue"):
        detail = "resourceVersionMatch is forbidden when continue is provided"
        yield statuses.not_allowed(name, detail)
    if match not in _MATCHES:
        yield statuses.unsupported(name, match, ["Exact", "NotOlderThan", ""])
    if match == "Exact" and wanted == 0:
        detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        yield statuses.not_allowed(name, detail)
