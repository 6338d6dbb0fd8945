import pytest

from podium import app
from podium.config import load
from podium.errors import ConfigError
from podium.plugins.node_affinity import NodeAffinity
from tests.support.node_affinity import args, named, term

ADDED = "addedAffinity.{}DuringSchedulingIgnoredDuringExecution"
REQUIRED, PREFERRED = ADDED.format("required"), ADDED.format("preferred")


def test_nothing_is_added_by_default():
    assert NodeAffinity.Args().added_affinity is None
    assert list(NodeAffinity.Args().validate()) == []


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(args([term("disk In ssd")], [(1, named("a"))]), id="both"),
        pytest.param(args([term()]), id="empty-term"),
        pytest.param(args(None, [(0, term("disk Like ssd"))]), id="preference-without-weight"),
    ],
)
def test_valid(given):
    assert list(given.validate()) == []


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        pytest.param(
            args([term("disk In ssd"), term("disk Like ssd")]),
            [f"{REQUIRED}.nodeSelectorTerms[1].matchExpressions[0].operator"],
            id="operator",
        ),
        pytest.param(
            args([term("-bad Exists", fields=["metadata.name Exists"])]),
            [
                f"{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key",
                f"{REQUIRED}.nodeSelectorTerms[0].matchFields[0].operator",
            ],
            id="key-and-field",
        ),
        pytest.param(
            args(None, [(1, term("disk Exists")), (1, term("cores Gt many"))]),
            [f"{PREFERRED}[1].matchExpressions[0].values[0]"],
            id="preferred",
        ),
        pytest.param(
            args([term("disk In")], [(1, named("a,b"))]),
            [
                f"{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
                f"{PREFERRED}[0].matchFields[0].values",
            ],
            id="both",
        ),
    ],
)
def test_problems_are_placed(given, paths):
    assert [problem.path for problem in given.validate()] == paths


def test_problem_says_what_is_wrong():
    (problem,) = args([term("disk Like ssd")]).validate()

    assert problem.message.startswith('Unsupported value: "Like": supported values: ')


CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: OPERATOR, values: [ssd]}]
"""


def test_added_affinity_of_a_file():
    (profile,) = load(CONFIG.replace("OPERATOR", "In"), app.in_tree()).profiles

    assert profile.args["NodeAffinity"] == args([term("disk In ssd")])


def test_bad_affinity_of_a_file_is_found_at_start():
    with pytest.raises(ConfigError) as caught:
        load(CONFIG.replace("OPERATOR", "Like"), app.in_tree())

    path = "profiles[0].pluginConfig[0].args.addedAffinity"
    assert [problem.path.startswith(path) for problem in caught.value.problems] == [True]
