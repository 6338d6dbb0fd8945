"""Scripts: pods whose tolerations, spreading or affinity is refused, with every cause."""

from tests.support.control_plane.scripts.objects import pod


def refused_placement(ask):
    path = ask.core("pods?dryRun=All")
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    for toleration in (
        {"key": "a", "operator": "Odd"},
        {"key": "a", "operator": "Exists", "value": "b"},
        {"operator": "Equal"},
        {"value": "b"},
        {"key": "a", "effect": "Odd"},
        {"key": "a", "tolerationSeconds": 5},
        {"key": "a b"},
        {"key": "a", "value": "b c"},
        {"key": "a", "operator": "Gt", "value": "5"},
    ):
        ask.create(path, pod("p", tolerations=[toleration]))
    spread = {
        "maxSkew": 1,
        "topologyKey": "z",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
    }
    for change in (
        {"maxSkew": 0},
        {"topologyKey": ""},
        {"topologyKey": "a b"},
        {"whenUnsatisfiable": "Odd"},
        {"minDomains": 0},
        {"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"},
        {"nodeAffinityPolicy": "Odd"},
        {"nodeTaintsPolicy": "Odd"},
        {"matchLabelKeys": ["a", "a"]},
        {"matchLabelKeys": ["a b"]},
        {"matchLabelKeys": ["a"], "labelSelector": {"matchLabels": {"a": "b"}}},
        {"labelSelector": {"matchLabels": {"a b": "c"}}},
        {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}},
        {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        {
            "labelSelector": {
                "matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]
            }
        },
    ):
        ask.create(path, pod("p", topologySpreadConstraints=[{**spread, **change}]))
    ask.create(path, pod("p", topologySpreadConstraints=[spread, spread]))
    for terms in (
        [],
        [{}],
        [{"matchExpressions": [{"key": "a", "operator": "Odd"}]}],
        [{"matchExpressions": [{"key": "a", "operator": "In"}]}],
        [{"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}],
        [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["b"]}]}],
        [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1", "2"]}]}],
        [{"matchExpressions": [{"key": "a b", "operator": "Exists"}]}],
        [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}],
        [{"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]}],
        [{"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}],
    ):
        affinity = {"nodeAffinity": {required: {"nodeSelectorTerms": terms}}}
        ask.create(path, pod("p", affinity=affinity))
    ask.create(
        path, pod("p", affinity={"nodeAffinity": {preferred: [{"weight": 0, "preference": {}}]}})
    )
    ask.create(
        path, pod("p", affinity={"nodeAffinity": {preferred: [{"weight": 101, "preference": {}}]}})
    )
    for term in (
        {},
        {"topologyKey": "a b"},
        {"topologyKey": "z", "namespaces": ["A"]},
        {"topologyKey": "z", "labelSelector": {"matchLabels": {"a b": "c"}}},
        {"topologyKey": "z", "namespaceSelector": {"matchLabels": {"a b": "c"}}},
        {"topologyKey": "z", "labelSelector": {}, "matchLabelKeys": ["a b"]},
        {"topologyKey": "z", "matchLabelKeys": ["a"]},
    ):
        for kind in ("podAffinity", "podAntiAffinity"):
            ask.create(path, pod("p", affinity={kind: {required: [term]}}))
    weighted = {"weight": 0, "podAffinityTerm": {"topologyKey": "z"}}
    ask.create(path, pod("p", affinity={"podAffinity": {preferred: [weighted]}}))


ALL = (refused_placement,)
