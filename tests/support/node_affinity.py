"""Node affinity in short: ``pod(affinity=affinity([term("disk In ssd")], [(5, named("a"))]))``."""

import msgspec

from podium import framework as fwk
from podium.plugins.node_affinity import NodeAffinity


def term(*labels, fields=()):
    """A term from requirements such as ``disk In ssd,hdd`` or ``gpu Exists``."""
    return {
        "matchExpressions": [*map(requirement, labels)],
        "matchFields": [*map(requirement, fields)],
    }


def named(*names):
    """A term that asks for nodes by name, with one requirement per name or list of names."""
    return term(fields=[f"metadata.name In {name}" for name in names])


def requirement(text):
    key, operator, *values = text.split(" ")
    listed = values[0].split(",") if values else []
    return {"key": key, "operator": operator, "values": listed}


def node_affinity(required=None, preferred=()):
    """As in a manifest. ``required`` of None asks for nothing, of [] for what no node has."""
    written = {}
    if required is not None:
        terms = {"nodeSelectorTerms": list(required)}
        written["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    if preferred:
        written["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": wanted} for weight, wanted in preferred
        ]
    return written


def affinity(required=None, preferred=()):
    """What a pod's spec says: ``pod(affinity=affinity(...))``."""
    return {"nodeAffinity": node_affinity(required, preferred)}


def args(required=None, preferred=()):
    added = {"addedAffinity": node_affinity(required, preferred)}
    return msgspec.convert(added, NodeAffinity.Args)


def plugin(required=None, preferred=()):
    """The plugin of a profile that adds this affinity."""
    return NodeAffinity(args(required, preferred), None)


def verdicts(subject, nodes, profile):
    """What Filter says of each node, asked both ways."""
    state = fwk.CycleState()
    found = list(profile.filter_all(state, subject, nodes))
    assert found == [profile.filter(state, subject, each) for each in nodes]
    return found
