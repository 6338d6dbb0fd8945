from podium.state.aspects import NOWHERE, Aspect, Journal


def test_every_aspect_is_a_bit_of_its_own():
    bits = [bit for name, bit in vars(Aspect).items() if name.isupper() and name != "ALL"]

    assert len(set(bits)) == len(bits)
    assert sum(bits) == Aspect.ALL


def test_a_reader_sees_what_came_after_its_mark():
    journal = Journal()
    journal.record(1, Aspect.LABELS)
    mark = journal.end
    journal.record(2, Aspect.PODS)
    journal.record(NOWHERE, Aspect.NAMESPACES)

    assert journal.since(mark) == [(2, Aspect.PODS), (NOWHERE, Aspect.NAMESPACES)]
    assert journal.since(journal.end) == []


def test_a_reader_that_is_too_far_behind_starts_over():
    journal = Journal()
    start = journal.end
    for row in range(20_000):
        journal.record(row, Aspect.PODS)
    recent = journal.end - 100

    assert journal.end == start + 20_000
    assert journal.since(start) is None
    assert journal.since(recent) == [(row, Aspect.PODS) for row in range(19_900, 20_000)]


def test_marks_stay_valid_when_old_entries_go():
    journal = Journal()
    for row in range(10_000):
        mark = journal.end
        journal.record(row, Aspect.PODS)

        assert journal.since(mark) == [(row, Aspect.PODS)]
