"""What keeps informers from their work is told once: for each kind, and for all of them."""

import logging

import pytest

from podium.api.objects import PodDisruptionBudget
from podium.client.resources import NODES, PODS, resource_of
from podium.client.trouble import Trouble, Troubles
from podium.errors import Forbidden, NotFound, Unauthorized, Unreachable

BUDGETS = resource_of(PodDisruptionBudget)
DOWN = "kubeconfig: http://127.0.0.1:9: cannot be reached"
EXPIRED = "kubeconfig: https://127.0.0.1:9 does not accept these credentials"


def told(caplog, level=logging.INFO):
    return [(one.levelname, one.getMessage()) for one in caplog.records if one.levelno >= level]


@pytest.mark.parametrize(
    ("error", "level"),
    [(Unreachable(DOWN), "WARNING"), (Unauthorized(EXPIRED), "ERROR")],
    ids=["unreachable", "expired"],
)
def test_what_all_kinds_suffer_from_is_told_by_the_first_and_the_last(error, level, caplog):
    caplog.set_level(logging.INFO)
    shared = Troubles()
    kinds = [Trouble(resource, shared) for resource in (NODES, PODS, BUDGETS)]
    for _ in range(3):
        for kind in kinds:
            kind.begin(error, "list")
    for kind in kinds:
        kind.end()

    why = f"cannot list nodes: {error}; retrying"
    again = "watching poddisruptionbudgets.policy again"
    assert told(caplog) == [(level, why), ("INFO", again)]


def test_two_watches_of_one_kind_have_their_own_troubles(caplog):
    """As with the pods of gangs, which the keeper of their status watches as well."""
    caplog.set_level(logging.INFO)
    shared = Troubles()
    watches = [Trouble(PODS, shared) for _ in range(2)]
    for watch in watches:
        watch.begin(Unreachable(DOWN), "watch")
    for watch in watches:
        watch.end()

    why = f"cannot watch pods: {DOWN}; retrying"
    assert told(caplog) == [("WARNING", why), ("INFO", "watching pods again")]


def test_what_one_kind_lacks_is_told_for_it(caplog):
    shared = Troubles()
    for resource in (NODES, PODS):
        error = Forbidden(f"{resource.name} is forbidden")
        Trouble(resource, shared).begin(error, "watch")

    remedy = "forbidden (grant list and watch on"
    assert told(caplog) == [
        ("ERROR", f"cannot watch {name}: {remedy} {name}); retrying server='{name} is forbidden'")
        for name in ("nodes", "pods")
    ]


def test_a_kind_that_the_server_does_not_have_is_told_without_its_answer(caplog):
    error = NotFound("the server answered 404: 404 page not found", 404)
    Trouble(BUDGETS, Troubles()).begin(error, "list")

    message = (
        "cannot list poddisruptionbudgets.policy: the server does not have this kind; continuing "
        "without respect for disruption budgets in preemption; retrying in 5 to 10 minutes"
    )
    assert told(caplog) == [("WARNING", message)]


def test_a_trouble_that_comes_back_is_told_again(caplog):
    caplog.set_level(logging.INFO)
    trouble = Trouble(NODES, Troubles())
    for _ in range(2):
        trouble.begin(Unreachable(DOWN), "list")
        trouble.end()

    assert [level for level, _ in told(caplog)] == ["WARNING", "INFO"] * 2


def test_another_sort_of_trouble_is_told(caplog):
    trouble = Trouble(NODES, Troubles())
    trouble.begin(Unreachable(DOWN), "list")
    trouble.begin(Unauthorized(EXPIRED), "list")

    assert [level for level, _ in told(caplog)] == ["WARNING", "ERROR"]
