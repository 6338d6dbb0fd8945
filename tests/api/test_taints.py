import pytest

from podium.api.objects import Taint, Toleration
from podium.api.taints import PREFER_NO_SCHEDULE, find_untolerated, tolerates

GPU = Taint("gpu", "a100", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(Toleration("gpu", "Equal", "a100", "NoSchedule"), True, id="equal"),
        pytest.param(Toleration("gpu", "", "a100", "NoSchedule"), True, id="equal-by-default"),
        pytest.param(Toleration("gpu", "Equal", "h100", "NoSchedule"), False, id="other-value"),
        pytest.param(Toleration("gpu", "Equal", "A100", "NoSchedule"), False, id="exact-value"),
        pytest.param(Toleration("gpu", "Exists", "", "NoSchedule"), True, id="exists"),
        pytest.param(Toleration("gpu", "Exists"), True, id="any-effect"),
        pytest.param(Toleration("gpu", "Exists", "", "NoExecute"), False, id="other-effect"),
        pytest.param(Toleration("cpu", "Exists"), False, id="other-key"),
        pytest.param(Toleration("", "Exists"), True, id="everything"),
        pytest.param(Toleration("", "Equal", "a100"), True, id="no-key-compares-values"),
        pytest.param(Toleration("", "", ""), False, id="no-key-no-value"),
        pytest.param(Toleration("gpu", "exists"), False, id="unknown-operator"),
        pytest.param(Toleration("gpu", "Exists", "", "", 0), True, id="seconds-do-not-matter"),
    ],
)
def test_tolerates(toleration, expected):
    assert tolerates(toleration, GPU) is expected


@pytest.mark.parametrize(
    ("operator", "value", "taint", "expected"),
    [
        pytest.param("Gt", "5", "6", True, id="gt"),
        pytest.param("Gt", "5", "5", False, id="gt-is-strict"),
        pytest.param("Lt", "5", "-6", True, id="lt"),
        pytest.param("Lt", "05", "4", False, id="leading-zero"),
        pytest.param("Lt", "+5", "4", False, id="plus"),
        pytest.param("Gt", "-0", "4", False, id="minus-zero"),
        pytest.param("Gt", "5", "many", False, id="no-number"),
        pytest.param("Gt", "5", str(2**63), False, id="beyond-int64"),
    ],
)
def test_comparisons_need_their_gate(operator, value, taint, expected):
    toleration, tainted = Toleration("k", operator, value), Taint("k", taint, "NoSchedule")

    assert tolerates(toleration, tainted, comparison_operators=True) is expected
    assert tolerates(toleration, tainted) is False


def test_find_untolerated_takes_the_first_in_order():
    soft = Taint("spot", "", "PreferNoSchedule")
    hard = Taint("maintenance", "", "NoExecute")
    taints = (soft, GPU, hard)

    assert find_untolerated(taints, ()) is GPU
    assert find_untolerated(taints, (Toleration("gpu", "Exists"),)) is hard
    assert find_untolerated(taints, (Toleration("", "Exists"),)) is None
    assert find_untolerated(taints, (), PREFER_NO_SCHEDULE) is soft
