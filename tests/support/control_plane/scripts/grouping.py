"""Scripts: workloads and pod groups, for servers with the feature gate GenericWorkload."""

from tests.support.control_plane.comparison import MERGE, STRATEGIC, TABLE
from tests.support.control_plane.scripts.objects import pod

BETA = "scheduling.k8s.io/v1beta1"
ALPHA = "scheduling.k8s.io/v1alpha3"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
GANG = {"gang": {"minCount": 2}}
BASIC = {"basic": {}}
LONG = "x" * 64
LONGER = "x" * 254


def group(spec, name="x"):
    return {"metadata": {"name": name}, "spec": spec}


def with_gang(**more):
    return {"schedulingPolicy": GANG, **more}


def templates(*names, **more):
    return {
        "podGroupTemplates": [{"name": name, "schedulingPolicy": GANG, **more} for name in names]
    }


def served_versions(ask):
    ask.get("/apis/scheduling.k8s.io/v1beta1")
    ask.get("/apis/scheduling.k8s.io/v1alpha3")


def refused_groups(ask):
    for version in (BETA, ALPHA):
        path = ask.group(version, "podgroups")
        for spec in (
            {},
            {"schedulingPolicy": {}},
            {"schedulingPolicy": {**GANG, **BASIC}},
            {"schedulingPolicy": {"gang": {}}},
            {"schedulingPolicy": {"gang": {"minCount": 0}}},
            {"schedulingPolicy": {"gang": {"minCount": -1}}},
            with_gang(disruptionMode={}),
            with_gang(disruptionMode={"single": {}, "all": {}}),
            with_gang(disruptionMode={"all": {}}),
            with_gang(priorityClassName="Bad_Name"),
            with_gang(priorityClassName="missing"),
            with_gang(priority=5),
            with_gang(priority=2_000_000_000),
            with_gang(workloadRef={}),
            with_gang(workloadRef={"workloadName": "Bad_Name", "templateName": "Bad_Name"}),
            with_gang(workloadRef={"workloadName": LONGER, "templateName": LONG}),
            with_gang(workloadRef={"workloadName": "w", "templateName": "t"}),
            # Behind gates that are off.
            with_gang(parentCompositePodGroupName="parent"),
            with_gang(schedulingConstraints={"topology": [{"key": "a b"}]}),
            with_gang(resourceClaims=[{"name": "c", "resourceClaimName": "c"}]),
            with_gang(preemptionPolicy="Never"),
            with_gang(unknown=1),
        ):
            ask.create(f"{path}?dryRun=All", group(spec))
        for name in ("Upper", LONGER, "a.b"):
            ask.create(f"{path}?dryRun=All", group(with_gang(), name))
        ask.create(f"{path}?dryRun=All", {"metadata": {"name": "x"}})


def changed_groups(ask):
    path = ask.group(BETA, "podgroups")
    body = group(with_gang(workloadRef={"workloadName": "w", "templateName": "t"}), "kept")
    made = ask.create(path, body)
    ask.get(f"{path}/kept")
    ask.get(ask.group(ALPHA, "podgroups/kept"))
    ask.get(f"{path}/kept", TABLE)
    for spec in (
        {"schedulingPolicy": {"gang": {"minCount": 1}}},
        {"schedulingPolicy": {"gang": {"minCount": 0}}},
        {"schedulingPolicy": {"gang": None}},
        {"schedulingPolicy": {"gang": None, "basic": {}}},
        {"schedulingPolicy": {"basic": {}}},
        {"priority": 7},
        {"priorityClassName": "other"},
        {"disruptionMode": {"single": None, "all": {}}},
        {"workloadRef": None},
        {"workloadRef": {"templateName": "other"}},
        {"schedulingConstraints": {"topology": [{"key": "zone"}]}},
    ):
        ask.patch(f"{path}/kept", {"spec": spec}, MERGE)
        ask.patch(ask.group(ALPHA, "podgroups/kept"), {"spec": spec}, MERGE)
    del made["metadata"]["resourceVersion"]
    ask.put(f"{path}/kept", made)
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "True",
        "reason": "Scheduled",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    ask.patch(f"{path}/kept/status", {"status": {"conditions": [condition]}}, STRATEGIC)
    ask.get(f"{path}/kept", TABLE)
    ask.patch(
        f"{path}/kept/status", {"status": {"conditions": [{**condition, "reason": ""}]}}, MERGE
    )
    ask.patch(
        f"{path}/kept/status", {"status": {"conditions": [{**condition, "status": "Odd"}]}}, MERGE
    )
    ask.patch(f"{path}/kept/status", {"status": {"conditions": [condition, condition]}}, MERGE)
    claims = {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "c"}]}
    ask.patch(f"{path}/kept/status", {"status": claims}, MERGE)
    ask.get(f"{path}/kept/status")
    ask.create(path, group({"schedulingPolicy": BASIC}, "basic"))
    ask.patch(f"{path}/basic", {"spec": {"schedulingPolicy": {"basic": None, **GANG}}}, MERGE)
    ask.get(path, TABLE)
    ask.delete(f"{path}/basic")
    ask.delete(f"{path}/kept")
    ask.patch(f"{path}/kept", {"metadata": {"finalizers": None}}, MERGE)
    ask.get(f"{path}/kept")


def prioritized_groups(ask):
    path = ask.group(BETA, "podgroups")
    ask.create(CLASSES, {"metadata": {"name": "gangs"}, "value": 7, "preemptionPolicy": "Never"})
    for name, more in (
        ("a", {"priorityClassName": "gangs"}),
        ("b", {"priorityClassName": "gangs", "priority": 7}),
        ("c", {"priorityClassName": "gangs", "priority": 8}),
        ("d", {"priority": 0}),
    ):
        ask.create(f"{path}?dryRun=All", group(with_gang(**more), name))
    ask.create(CLASSES, {"metadata": {"name": "usual"}, "value": 3, "globalDefault": True})
    ask.create(f"{path}?dryRun=All", group(with_gang(), "e"))
    ask.delete(f"{CLASSES}/usual")
    ask.delete(f"{CLASSES}/gangs")


def refused_workloads(ask):
    for version in (BETA, ALPHA):
        path = ask.group(version, "workloads")
        ask.create(f"{path}?dryRun=All", {"metadata": {"name": "x"}})
        for spec in (
            {},
            {"podGroupTemplates": []},
            templates("a"),
            templates("a", "a"),
            templates(*map(str, range(9))),
            templates("Bad_Name"),
            {"podGroupTemplates": [{}]},
            {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {}}]},
            {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {}}}]},
            templates("a", disruptionMode={}),
            templates("a", priority=2_000_000_000),
            templates("a", priorityClassName="Bad_Name"),
            templates("a", preemptionPolicy="Never"),
            templates("a", schedulingConstraints={"topology": [{"key": "a"}]}),
            templates("a", resourceClaims=[{"name": "c", "resourceClaimName": "c"}]),
            {
                "podGroupTemplates": [
                    *templates("a")["podGroupTemplates"],
                    *templates("b", priority=1)["podGroupTemplates"],
                ]
            },
            {**templates("a"), "controllerRef": {}},
            {
                **templates("a"),
                "controllerRef": {"apiGroup": "Bad_Name", "kind": "a/b", "name": "%"},
            },
            {**templates("a"), "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}},
            {"compositePodGroupTemplates": [{"name": "c", "schedulingPolicy": BASIC}]},
            {**templates("a"), "compositePodGroupTemplates": [{"name": "c"}]},
        ):
            ask.create(f"{path}?dryRun=All", group(spec))
        ask.create(f"{path}?dryRun=All", group(templates("a"), "Upper"))


def changed_workloads(ask):
    path = ask.group(BETA, "workloads")
    ref = {"apiGroup": "batch", "kind": "Job", "name": "j"}
    made = ask.create(path, group({**templates("a"), "controllerRef": ref}, "kept"))
    ask.get(f"{path}/kept", TABLE)
    ask.get(ask.group(ALPHA, "workloads/kept"))
    for spec in (
        templates("a", "b"),
        templates("b"),
        {"podGroupTemplates": []},
        {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 9}}}]},
        {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 0}}}]},
        {"podGroupTemplates": [{"name": "a", "schedulingPolicy": BASIC}]},
        templates("a", priority=3),
        templates("a", priorityClassName="c"),
        templates("a", disruptionMode={"all": {}}),
        {"controllerRef": None},
        {"controllerRef": {"name": "other"}},
    ):
        ask.patch(f"{path}/kept", {"spec": spec}, MERGE)
    ask.put(f"{path}/kept", {**made, "metadata": {"name": "kept"}})
    ask.get(f"{path}/kept/status")
    ask.delete(f"{path}/kept")


def pods_of_groups(ask):
    path = ask.core("pods")
    for scheduling in (
        {},
        {"podGroupName": ""},
        {"podGroupName": "Bad_Name"},
        {"podGroupName": "g"},
    ):
        ask.create(f"{path}?dryRun=All", pod("p", schedulingGroup=scheduling))
    ask.create(path, pod("kept", schedulingGroup={"podGroupName": "g"}))
    ask.patch(f"{path}/kept", {"spec": {"schedulingGroup": {"podGroupName": "h"}}}, MERGE)
    ask.patch(f"{path}/kept", {"spec": {"schedulingGroup": None}}, MERGE)
    ask.delete(f"{path}/kept", {"gracePeriodSeconds": 0})


def job(scheduling, name="x", **spec):
    template = {"spec": {"containers": [{"name": "c", "image": "a"}], "restartPolicy": "Never"}}
    return {
        "metadata": {"name": name},
        "spec": {"parallelism": 3, "template": template, "scheduling": scheduling, **spec},
    }


def scheduled_jobs(ask):
    """With the gate WorkloadWithJob."""
    path = ask.group("batch/v1", "jobs")
    for scheduling in (
        {},
        {"schedulingPolicy": {}},
        {"schedulingPolicy": BASIC},
        {"schedulingPolicy": {"gang": {}}},
        {"schedulingPolicy": {"gang": {"minCount": 0}}},
        {"schedulingPolicy": {"gang": {"minCount": -1}}},
        {"schedulingPolicy": GANG},
        {"schedulingPolicy": {**GANG, **BASIC}},
        {"schedulingPolicy": {"gang": {"minCount": 4}}},
        {"disruptionMode": {}},
        {"disruptionMode": {"all": {}}},
        {"disruptionMode": {"all": {}, "single": {}}},
    ):
        ask.create(f"{path}?dryRun=All", job(scheduling))
    ask.create(path, job({"schedulingPolicy": GANG}, "kept"))
    for scheduling in (
        {"schedulingPolicy": {"gang": {"minCount": 3}}},
        {"schedulingPolicy": {"gang": {"minCount": -1}}},
        {"schedulingPolicy": {"gang": None, "basic": {}}},
        {"schedulingPolicy": None},
        {"disruptionMode": {"all": {}}},
    ):
        ask.patch(f"{path}/kept", {"spec": {"scheduling": scheduling}}, MERGE)
    ask.patch(f"{path}/kept", {"spec": {"scheduling": None}}, MERGE)


CLAIM = {"name": "c", "resourceClaimName": "c"}


def composite(name, **more):
    return {"name": name, "schedulingPolicy": BASIC, **more}


def nested(depth):
    """A composite template with so many levels of composite templates."""
    inside = {"compositePodGroupTemplates": [nested(depth - 1)]} if depth > 1 else templates("leaf")
    return composite(f"level-{depth}", **inside)


def all_fields_of_groups(ask):
    """With all gates on."""
    path = ask.group(BETA, "podgroups")
    ref = {"workloadName": "w", "templateName": "t"}
    for spec in (
        with_gang(parentCompositePodGroupName="parent"),
        with_gang(parentCompositePodGroupName="Bad_Name", workloadRef=ref),
        with_gang(parentCompositePodGroupName="parent", workloadRef=ref),
        with_gang(schedulingConstraints={}),
        with_gang(schedulingConstraints={"topology": [{}]}),
        with_gang(schedulingConstraints={"topology": [{"key": "a b"}]}),
        with_gang(schedulingConstraints={"topology": [{"key": "zone"}]}),
        with_gang(schedulingConstraints={"topology": [{"key": "a"}, {"key": "b"}]}),
        with_gang(resourceClaims=[{}]),
        with_gang(resourceClaims=[{"name": "c"}]),
        with_gang(resourceClaims=[{**CLAIM, "resourceClaimTemplateName": "t"}]),
        with_gang(resourceClaims=[{"name": "Bad_Name", "resourceClaimName": "Bad_Name"}]),
        with_gang(resourceClaims=[CLAIM, CLAIM]),
        with_gang(resourceClaims=[CLAIM] * 5),
        with_gang(resourceClaims=[CLAIM]),
        with_gang(preemptionPolicy="Never"),
        with_gang(preemptionPolicy="Odd"),
        with_gang(preemptionPolicy=""),
    ):
        ask.create(f"{path}?dryRun=All", group(spec))
    more = {
        "schedulingConstraints": {"topology": [{"key": "zone"}]},
        "resourceClaims": [CLAIM],
        "parentCompositePodGroupName": "parent",
        "workloadRef": ref,
    }
    ask.create(path, group(with_gang(**more), "kept"))
    for spec in (
        {"schedulingConstraints": None},
        {"schedulingConstraints": {"topology": [{"key": "other"}]}},
        {"resourceClaims": []},
        {"parentCompositePodGroupName": "other"},
        {"preemptionPolicy": "Never"},
    ):
        ask.patch(f"{path}/kept", {"spec": spec}, MERGE)
    for name in ("c", "other"):
        claims = {"resourceClaimStatuses": [{"name": name, "resourceClaimName": "c"}]}
        ask.patch(f"{path}/kept/status", {"status": claims}, MERGE)


def policies_of_groups(ask):
    path = ask.group(BETA, "podgroups")
    ask.create(CLASSES, {"metadata": {"name": "calm"}, "value": 7, "preemptionPolicy": "Never"})
    for name, more in (
        ("a", {}),
        ("b", {"preemptionPolicy": "Never"}),
        ("c", {"preemptionPolicy": "PreemptLowerPriority"}),
    ):
        ask.create(f"{path}?dryRun=All", group(with_gang(priorityClassName="calm", **more), name))
    ask.delete(f"{CLASSES}/calm")


def composite_groups(ask):
    path = ask.group(ALPHA, "compositepodgroups")
    ref = {"workloadName": "w", "templateName": "t"}
    ask.get("/apis/scheduling.k8s.io/v1alpha3")
    for spec in (
        {},
        {"workloadRef": ref},
        {"schedulingPolicy": BASIC},
        {"schedulingPolicy": BASIC, "workloadRef": {}},
        {"schedulingPolicy": {"gang": {}}, "workloadRef": ref},
        {"schedulingPolicy": {"gang": {"minGroupCount": -1}}, "workloadRef": ref},
        {"schedulingPolicy": {**BASIC, "gang": {"minGroupCount": 1}}, "workloadRef": ref},
        {"schedulingPolicy": BASIC, "workloadRef": ref, "disruptionMode": {}},
        {"schedulingPolicy": BASIC, "workloadRef": ref, "disruptionMode": {"all": {}}},
        {"schedulingPolicy": BASIC, "workloadRef": ref, "priority": 3},
        {"schedulingPolicy": BASIC, "workloadRef": ref, "priorityClassName": "missing"},
        {"schedulingPolicy": BASIC, "workloadRef": ref, "parentCompositePodGroupName": "A"},
        {"schedulingPolicy": BASIC, "workloadRef": ref, "schedulingConstraints": {}},
    ):
        ask.create(f"{path}?dryRun=All", group(spec))
    gang = {"gang": {"minGroupCount": 2}}
    ask.create(path, group({"schedulingPolicy": gang, "workloadRef": ref}, "kept"))
    ask.get(path, TABLE)
    for spec in (
        {"schedulingPolicy": {"gang": {"minGroupCount": 1}}},
        {"schedulingPolicy": {"gang": None, "basic": {}}},
        {"workloadRef": None},
        {"priority": 9},
        {"parentCompositePodGroupName": "parent"},
    ):
        ask.patch(f"{path}/kept", {"spec": spec}, MERGE)
    ask.patch(f"{path}/kept/status", {"status": {"conditions": [{"type": "A"}]}}, MERGE)
    ask.delete(f"{path}/kept")


def composite_workloads(ask):
    path = ask.group(BETA, "workloads")
    leaf = templates("leaf")
    for composites in (
        [composite("a")],
        [composite("a", **leaf)],
        [composite("a", **leaf), composite("b", **leaf)],
        [composite("a", **templates("a"))],
        [composite("a", **leaf), composite("a", **templates("other"))],
        [composite("a", compositePodGroupTemplates=[composite("b")])],
        [composite("a", **templates("leaf", priority=3))],
        [composite("a", priority=3, **templates("leaf", priority=3))],
        [nested(3)],
        [{"name": "Bad_Name", **leaf}],
    ):
        ask.create(f"{path}?dryRun=All", group({"compositePodGroupTemplates": composites}))
    both = {**templates("x"), "compositePodGroupTemplates": [composite("a", **leaf)]}
    ask.create(f"{path}?dryRun=All", group(both))


ALL = (
    served_versions,
    refused_groups,
    changed_groups,
    prioritized_groups,
    refused_workloads,
    changed_workloads,
    pods_of_groups,
)

JOBS = (scheduled_jobs,)  # for servers with the gate WorkloadWithJob
# For servers with all gates of groups.
GATED = (all_fields_of_groups, policies_of_groups, composite_groups, composite_workloads)
