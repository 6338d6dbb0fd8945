"""What to say of a field that one version has and another has not, or has elsewhere."""

from types import MappingProxyType

_SECURE = "health and metrics are served over HTTPS on --secure-port; drop it"
_ONLY_V1ALPHA1 = "only v1alpha1 has it here"

FIELDS = MappingProxyType(
    {
        "algorithmSource": f"{_ONLY_V1ALPHA1}; choose plugins in profiles[].plugins",
        "alwaysCheckAllPredicates": "only a Policy has it",
        "bindTimeoutSeconds": "it is an argument of VolumeBinding now, in pluginConfig",
        "delayCacheUntilActive": "known from v1 on",
        "disablePreemption": "disable DefaultPreemption instead",
        "extenders": "known from v1alpha2 on",
        "featureGates": "it is a flag: --feature-gates",
        "hardPodAffinitySymmetricWeight": "it is an argument of InterPodAffinity now: "
        "hardPodAffinityWeight, in pluginConfig",
        "healthzBindAddress": f"gone since v1beta3: {_SECURE}",
        "lockObjectName": "resourceName is its name now",
        "lockObjectNamespace": "resourceNamespace is its name now",
        "metricsBindAddress": f"gone since v1beta3: {_SECURE}",
        "multiPoint": "known from v1beta3 on; list the plugin at each of its extension points",
        "parallelism": "known from v1beta1 on",
        "percentageOfNodesToScore": "a profile has it from v1 on; set it at the top",
        "placementGenerate": "known from v1 on",
        "placementScore": "known from v1 on",
        "pluginConfig": f"{_ONLY_V1ALPHA1}; it belongs into profiles[]",
        "plugins": f"{_ONLY_V1ALPHA1}; it belongs into profiles[]",
        "postFilter": "known from v1beta1 on with its present meaning; "
        "what v1alpha1 calls so is preScore",
        "preEnqueue": "known from v1beta2 on",
        "preScore": "v1alpha1 calls it postFilter",
        "predicates": "only a Policy (apiVersion: v1, kind: Policy) has it",
        "priorities": "only a Policy (apiVersion: v1, kind: Policy) has it",
        "profiles": "known from v1alpha2 on; v1alpha1 has one, written at the top",
        "schedulerName": f"{_ONLY_V1ALPHA1}; it belongs into profiles[]",
        "unreserve": "it is part of reserve now",
    }
)
