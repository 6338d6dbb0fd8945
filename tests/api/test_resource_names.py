import pytest

from podium.api.resource_names import is_extended, is_scalar


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        ("cpu", False, False),
        ("storage", False, False),
        ("example.com/gpu", True, True),
        ("hugepages-2Mi", False, True),
        ("attachable-volumes-aws-ebs", False, True),
        ("kubernetes.io/batch-cpu", False, True),
        ("deviceclass.resource.kubernetes.io/gpu", False, True),
        ("requests.example.com/gpu", False, False),
        ("example.com/", False, False),
        ("a/b/c", False, False),
    ],
)
def test_resource_names(name, extended, scalar):
    assert is_extended(name) is extended
    assert is_scalar(name) is scalar
