"""``podium config``: what it prints where, and its exit status."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podium.cli import config_text, main

EXAMPLES = Path(__file__).parents[1] / "config" / "examples"
V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def podium(capsys):
    """Runs the command; returns its status, stdout and stderr."""

    def run(*words):
        status = main(["config", *map(str, words)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_validate_tells_each_file(podium, write):
    good = write("good.yaml", V1)
    bad = write("bad.yaml", f"{V1}paralelism: 4\nprofiles: 3\n")

    status, out, err = podium("validate", good, bad)

    assert status == 2
    assert out == f"{good}: valid v1\n"
    assert err == (
        f"podium: {bad} has 2 problems\n"
        '  paralelism (line 3): unknown field "paralelism"; did you mean "parallelism"?\n'
        "  profiles (line 4): Invalid value: 3: must be a list\n"
    )


def test_validate_accepts_every_example(podium, monkeypatch):
    monkeypatch.chdir(EXAMPLES.parents[2])
    files = sorted(path for path in EXAMPLES.rglob("*") if path.is_file())

    status, out, err = podium("validate", *files)

    assert status == 0
    assert len(out.splitlines()) == len(files) > 30
    assert all(line.startswith("podium: warning: ") for line in err.splitlines())


def test_warnings_go_to_stderr(podium, write):
    path = write("old.yaml", V1.replace("v1", "v1beta2"))

    assert podium("validate", path) == (
        0,
        f"{path}: valid v1beta2\n",
        (
            f"podium: warning: {path}: apiVersion (line 1): v1beta2 is read by kube-scheduler "
            "up to 1.27 only; podium config convert writes v1\n"
        ),
    )


@pytest.mark.parametrize("words", [("validate",), ("show",), ("convert",), ("diff",)])
def test_a_file_that_is_not_there(podium, tmp_path, words):
    path = tmp_path / "none.yaml"

    status, out, err = podium(*words, path)

    assert (status, out) == (2, "")
    assert err == f"podium: {path} has 1 problem\n  cannot be read: No such file or directory\n"


def test_show_without_a_file_is_the_default(podium):
    status, out, err = podium("show")
    lines = out.splitlines()

    assert (status, err) == (0, "")
    assert "leaderElection.leaseDuration         15s" in lines
    assert "profile default-scheduler" in lines
    assert "score       TaintToleration                  3       default" in lines
    assert "            NodeAffinity                     2       default" in lines
    assert all(line == line.rstrip() and "\x1b" not in line for line in lines)


def test_show_tells_where_plugins_come_from(podium):
    _, out, _ = podium("show", EXAMPLES / "v1/multi-point.yaml")

    assert "score       InterPodAffinity                 5       score" in out
    assert "            TaintToleration                  7       multiPoint" in out


def test_show_of_a_plugin_that_podium_lacks(podium, write):
    text = f"{V1}profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: GangScheduling}}]}}}}}}]\n"

    _, out, _ = podium("show", write("gang.yaml", text))

    assert "GangScheduling                           multiPoint, not in podium" in out


def test_show_has_extenders(podium):
    _, out, _ = podium("show", EXAMPLES / "v1/extenders.yaml")

    assert "\nextender 1\nurlPrefix    http://127.0.0.1:8080\n" in out


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_show_for_programs(podium, output, read):
    _, out, _ = podium("show", EXAMPLES / "v1/tuned.yaml", "-o", output)
    shown = read(out)

    assert shown["percentageOfNodesToScore"] == 50
    assert shown["leaderElection"]["leaseDuration"] == "30s"
    [profile] = shown["profiles"]
    assert profile["schedulerName"] == "my-scheduler"
    assert profile["percentageOfNodesToScore"] == 0
    assert profile["plugins"]["bind"] == [{"name": "DefaultBinder", "from": "default"}]
    assert profile["plugins"]["score"][0] == {
        "name": "TaintToleration",
        "from": "default",
        "weight": 3,
    }
    assert profile["args"]["DynamicResources"]["bindingTimeout"] == "10m0s"


def test_convert_prints_a_file(podium, write):
    status, out, err = podium("convert", EXAMPLES / "policy/classic.json", "--to", "v1")
    path = write("new.yaml", out)

    assert status == 0
    assert out.startswith(V1)
    assert "only; podium config convert" in err
    assert podium("validate", path) == (0, f"{path}: valid v1\n", "")


def test_convert_of_what_v1_cannot_say(podium):
    status, out, err = podium("convert", EXAMPLES / "v1beta1/dropped-plugins.yaml")

    assert (status, out) == (2, "")
    assert "v1 has no counterpart of ServiceAffinity; use pod affinity" in err


def test_diff_of_equal_files(podium, write):
    assert podium("diff", write("a.yaml", V1)) == (0, "", "")
    assert podium("diff", write("b.yaml", V1), write("c.yaml", f"{V1}parallelism: 16\n")) == (
        0,
        "",
        "",
    )


def test_diff(podium, write):
    text = f"""{V1}parallelism: 4
profiles:
- plugins:
    filter: {{enabled: [{{name: TaintToleration}}], disabled: [{{name: NodePorts}}]}}
    score: {{enabled: [{{name: TaintToleration, weight: 9}}]}}
  pluginConfig:
  - {{name: NodeResourcesFit, args: {{ignoredResources: [a.io/x]}}}}
- schedulerName: b
"""
    text = text.replace("- plugins", "- schedulerName: default-scheduler\n  plugins")
    path = write("a.yaml", text)
    status, out, _ = podium("diff", path)

    assert status == 1
    header = f"--- the default configuration\n+++ {path}\n"
    assert out.startswith(f"{header}parallelism\n  - 16\n  + 4\n")
    assert (
        "profiles[default-scheduler].plugins.filter\n  - NodePorts\n"
        "  - TaintToleration, after NodeUnschedulable\n  + TaintToleration, first\n"
    ) in out
    assert "profiles[default-scheduler].weights.TaintToleration\n  - 3\n  + 9\n" in out
    fit = "profiles[default-scheduler].args.NodeResourcesFit.ignoredResources"
    assert f"{fit}\n  + a.io/x\n" in out
    assert out.endswith("profiles[b]\n  - (not set)\n  + a profile with 20 plugins\n")


def test_diff_of_two_files_goes_from_the_first_to_the_second(podium, write):
    old, new = write("a.yaml", f"{V1}parallelism: 4\n"), write("b.yaml", V1)

    assert podium("diff", old, new)[1] == f"--- {old}\n+++ {new}\nparallelism\n  - 4\n  + 16\n"


def test_diff_keeps_together_what_belongs_to_one_profile(podium, write):
    before = f"""{V1}profiles:
- schedulerName: a
  plugins: {{score: {{disabled: [{{name: ImageLocality}}]}}}}
- schedulerName: b
"""
    after = f"""{V1}profiles:
- schedulerName: a
  pluginConfig:
  - {{name: NodeResourcesFit, args: {{ignoredResources: [a.io/x], ignoredResourceGroups: [g.io]}}}}
- schedulerName: b
  plugins: {{score: {{disabled: [{{name: ImageLocality}}]}}}}
  pluginConfig:
  - {{name: NodeResourcesFit, args: {{ignoredResources: [a.io/x]}}}}
extenders:
- {{urlPrefix: "http://localhost:1", filterVerb: filter}}
"""
    _, out, _ = podium("diff", write("a.yaml", before), write("b.yaml", after))

    paths = [line for line in out.splitlines()[2:] if not line.startswith(" ")]
    assert paths[:7] == [
        "profiles[a].plugins.score",
        "profiles[a].weights.ImageLocality",
        "profiles[a].args.NodeResourcesFit.ignoredResources",
        "profiles[a].args.NodeResourcesFit.ignoredResourceGroups",
        "profiles[b].plugins.score",
        "profiles[b].weights.ImageLocality",
        "profiles[b].args.NodeResourcesFit.ignoredResources",
    ]
    assert all(path.startswith("extenders[0].") for path in paths[7:])


def profiles(*names):
    return V1 + "profiles:\n" + "".join(f"- schedulerName: {name}\n" for name in names)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(
            "a", "b", "profiles[b].schedulerName\n  - a\n  + b\n", id="renamed"
        ),
        pytest.param(
            "ab", "cb", "profiles[c].schedulerName\n  - a\n  + c\n", id="one-of-two-renamed"
        ),
        pytest.param("ab", "ba", "", id="order-does-not-count"),
        pytest.param(
            "ab", "b", "profiles[a]\n  - a profile with 20 plugins\n  + (not set)\n", id="dropped"
        ),
        pytest.param(
            "ab", "c",
            "profiles[c].schedulerName\n  - a\n  + c\n"
            "profiles[b]\n  - a profile with 20 plugins\n  + (not set)\n",
            id="renamed-and-dropped",
        ),
    ],
)  # fmt: skip
def test_diff_of_profiles(podium, write, before, after, told):
    _, out, _ = podium(
        "diff", write("a.yaml", profiles(*before)), write("b.yaml", profiles(*after))
    )

    assert "".join(out.splitlines(keepends=True)[2:]) == told


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_moved_names_are_all_it_takes_to_get_the_other_order(before, after):
    moved = config_text.moved(before, after)

    assert [n for n in before if n not in moved] == [n for n in after if n not in moved]
    assert not moved if before == after else moved


def test_standard_input(podium, monkeypatch):
    with open(EXAMPLES / "v1/minimal.yaml") as stream:
        monkeypatch.setattr("sys.stdin", stream)

        assert podium("validate", "-") == (0, "-: valid v1\n", "")


@pytest.mark.parametrize("action", ["validate", "show", "convert", "diff"])
def test_help_has_examples(action, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["config", action, "--help"])

    assert ended.value.code == 0
    assert f"podium config {action} " in capsys.readouterr().out
