"""Old names of the plugin API keep working for one release, and say what to write instead."""

import pytest

from podium import framework as fwk
from podium.testing.builders import pod


@pytest.mark.parametrize(("old", "new"), [("Reads", "Dependencies"), ("reads", "Dependencies")])
def test_an_old_name_is_the_new_thing_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=rf"^fwk\.{old} is deprecated: use fwk\.{new} "):
        found = getattr(fwk, old)

    assert found is getattr(fwk, new)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'podium.framework' has no attribute 'Writes'"):
        fwk.Writes  # noqa: B018


def test_a_method_under_its_old_name_is_called_under_the_new_one():
    with pytest.warns(DeprecationWarning, match=r"Old\.reads is deprecated: use depends_on"):

        class Old(fwk.Plugin):
            name = "Old"

            def reads(self, pod):
                return fwk.Dependencies(node=fwk.Aspect.LABELS)

    assert Old(None, None).depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.LABELS)
