from podium.framework.pods_in_pre_bind import PodsInPreBind


def entered():
    stopped = []
    pods = PodsInPreBind()
    return pods, pods.add("uid", stopped.append), stopped


def test_a_pod_is_found_until_its_binding_ends():
    pods, entry, _ = entered()

    assert pods.get("uid") is entry
    pods.remove("uid")
    pods.remove("uid")  # again is fine
    assert pods.get("uid") is None


def test_cancel_stops_the_binding_with_the_reason():
    _, entry, stopped = entered()

    assert entry.cancel("preempted")
    assert stopped == ["preempted"]
    assert entry.cancelled_because == "preempted"


def test_the_first_reason_stays():
    _, entry, stopped = entered()
    entry.cancel("first")

    assert entry.cancel("second")
    assert stopped == ["first"]
    assert entry.cancelled_because == "first"


def test_pre_bind_cannot_finish_after_it_was_cancelled():
    _, entry, _ = entered()
    entry.cancel("preempted")

    assert not entry.mark_prebound()


def test_it_cannot_be_cancelled_after_it_finished():
    _, entry, stopped = entered()

    assert entry.mark_prebound()
    assert not entry.cancel("preempted")
    assert stopped == []
    assert entry.cancelled_because is None


def test_a_cancellation_without_words_is_one():
    _, entry, stopped = entered()

    assert entry.cancel("")
    assert not entry.mark_prebound()
    assert stopped == [""]
