"""The types of a Policy file: predicates and priorities, some with an argument."""

from typing import ClassVar

from msgspec import field

from podium.config import wire
from podium.legacy.versions.shared import LegacyExtender


class Labels(wire.Wire, frozen=True):
    labels: tuple[str, ...] = ()


class LabelsPresence(wire.Wire, frozen=True):
    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(wire.Wire, frozen=True):
    service_affinity: Labels | None = None
    labels_presence: LabelsPresence | None = None


class Predicate(wire.Wire, frozen=True):
    name: str = ""
    argument: PredicateArgument | None = None


class Label(wire.Wire, frozen=True):
    label: str = ""


class LabelPreference(wire.Wire, frozen=True):
    label: str = ""
    presence: bool = False


class ShapePoint(wire.Wire, frozen=True):
    utilization: wire.Int32 = 0
    score: wire.Int32 = 0


class Resource(wire.Wire, frozen=True):
    name: str = ""
    weight: wire.Int64 = 0


class Ratio(wire.Wire, frozen=True):
    shape: tuple[ShapePoint, ...] = ()
    resources: tuple[Resource, ...] = ()


class PriorityArgument(wire.Wire, frozen=True):
    service_anti_affinity: Label | None = None
    label_preference: LabelPreference | None = None
    requested_to_capacity_ratio_arguments: Ratio | None = None


class Priority(wire.Wire, frozen=True):
    name: str = ""
    weight: wire.Int64 = 0
    argument: PriorityArgument | None = None


class ManagedResource(wire.ManagedResource, frozen=True):
    ignores_case: ClassVar[bool] = True


class TLSConfig(wire.TLSConfig, frozen=True):
    ignores_case: ClassVar[bool] = True


class Extender(LegacyExtender, frozen=True):
    """An extender; its field names may be in any case, such as ``BindVerb`` and ``CAFile``."""

    ignores_case: ClassVar[bool] = True

    tls: TLSConfig | None = field(default=None, name="tlsConfig")
    managed_resources: tuple[ManagedResource, ...] = ()


class Policy(wire.Wire, frozen=True):
    """A whole policy. A missing list means the default one, an empty list means none."""

    api_version: str = ""
    kind: str = ""
    predicates: tuple[Predicate, ...] | None = None
    priorities: tuple[Priority, ...] | None = None
    extenders: tuple[Extender, ...] = ()
    hard_pod_affinity_symmetric_weight: wire.Int32 = 0
    always_check_all_predicates: bool = False
