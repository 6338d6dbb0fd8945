"""The environment that all of Kubernetes' expressions share, without any variables."""

from __future__ import annotations

from typing import Final

from podium.cel.authorizer import AUTHORIZER
from podium.cel.environment import Environment
from podium.cel.lists import ENDS, KUBERNETES_LISTS, LISTS, SETS
from podium.cel.named_formats import NAMED_FORMATS
from podium.cel.network import ADDRESSES
from podium.cel.optionals import OPTIONALS, TWO_VARIABLE_LOOPS
from podium.cel.quantities import QUANTITIES
from podium.cel.semvers import SEMVERS
from podium.cel.standard import STANDARD
from podium.cel.strings import REGEX, STRINGS
from podium.cel.urls import URLS

BASE: Final = Environment().with_libraries(
    STANDARD,
    URLS,
    REGEX,
    OPTIONALS,
    QUANTITIES,
    STRINGS,
    SETS,
    ADDRESSES,
    NAMED_FORMATS,
    TWO_VARIABLE_LOOPS,
    SEMVERS,
    LISTS,
    ENDS,
    KUBERNETES_LISTS,
    AUTHORIZER,
)
