"""All plugins that come with podium, as the commands know them, and short ways to write tests."""

from podium import config
from podium.config import upstream
from podium.errors import ConfigError
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.legacy.plugins import LEGACY
from podium.plugins import IN_TREE

KNOWN = Registry((*IN_TREE, *LEGACY))


def header(version):
    if version == "Policy":
        return "apiVersion: v1\nkind: Policy\n"
    return f"apiVersion: {upstream.GROUP}/{version}\nkind: {upstream.KIND}\n"


def load(version, body=""):
    return config.load(header(version) + body, KNOWN, versions=VERSIONS, source="scheduler.yaml")


def problems(version, body):
    """Everything that is wrong, as it is printed."""
    try:
        load(version, body)
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def order(profile):
    """``{"filter": "A B", "score": "A=1 C=2"}``: what runs where, in order."""
    found = {point.value: " ".join(names) for point, names in profile.plugins.items()}
    weighted = (f"{name}={weight}" for name, weight in profile.weights.items())
    return {**found, "score": " ".join(weighted)}


def fields(args):
    return {name: getattr(args, name) for name in args.__struct_fields__}
