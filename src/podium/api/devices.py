"""Devices: the classes that pods ask for, the slices that drivers publish, rules that taint them.

``resource_claims.py`` has the claims.
"""

from msgspec import field

from podium.api.affinity import NodeSelector, Taint
from podium.api.meta import ApiObject, Condition, HashedValue, Int64, Quantity, Value

# Taints of devices have the fields of a node's taints. Their effects are NoSchedule, NoExecute
# and None, which only announces something.
DeviceTaint = Taint


class CELDeviceSelector(HashedValue, frozen=True, gc=False):
    expression: str = ""


class DeviceSelector(HashedValue, frozen=True, gc=False):
    """A condition on a device; ``cel`` of None is a selector that podium does not know."""

    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(Value, frozen=True, gc=False):
    """Parameters for a driver, which only the driver understands."""

    driver: str = ""
    parameters: dict[str, object] = field(default_factory=dict)


class DeviceConfiguration(Value, frozen=True, gc=False):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Value, frozen=True, gc=False):
    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceConfiguration, ...] = ()
    extended_resource_name: str = ""


class DeviceClass(ApiObject, frozen=True, gc=False):
    spec: DeviceClassSpec = DeviceClassSpec()


class ResourcePool(HashedValue, frozen=True, gc=False):
    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class DeviceAttribute(HashedValue, frozen=True, gc=False):
    """An attribute has exactly one of these values."""

    int_value: Int64 | None = field(default=None, name="int")
    bool_value: bool | None = field(default=None, name="bool")
    string_value: str | None = field(default=None, name="string")
    version_value: str | None = field(default=None, name="version")
    int_values: tuple[Int64, ...] | None = field(default=None, name="ints")
    bool_values: tuple[bool, ...] | None = field(default=None, name="bools")
    string_values: tuple[str, ...] | None = field(default=None, name="strings")
    version_values: tuple[str, ...] | None = field(default=None, name="versions")


class CapacityRequestPolicyRange(HashedValue, frozen=True, gc=False):
    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(HashedValue, frozen=True, gc=False):
    """How much of a capacity one request may consume."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(HashedValue, frozen=True, gc=False):
    value: Quantity = 0
    request_policy: CapacityRequestPolicy | None = None


class Counter(HashedValue, frozen=True, gc=False):
    value: Quantity = 0


class CounterSet(Value, frozen=True, gc=False):
    """Counters that the devices of a pool share."""

    name: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)


class DeviceCounterConsumption(Value, frozen=True, gc=False):
    """What a device takes from one counter set. The groups are new in 1.37."""

    counter_set: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)
    compatibility_groups: tuple[str, ...] = ()


class Device(Value, frozen=True, gc=False):
    """One device of a slice.

    For ``binding_conditions`` None differs from (): a pool with a device that has a list, even an
    empty one, is tried after all pools without.
    """

    name: str = ""
    attributes: dict[str, DeviceAttribute] = field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    allow_multiple_allocations: bool = False


class ResourceSliceSpec(Value, frozen=True, gc=False):
    """Devices of one pool of a driver, and the nodes that can use them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(ApiObject, frozen=True, gc=False):
    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceTaintSelector(HashedValue, frozen=True, gc=False):
    """The devices that a rule taints. A field of None selects any."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Value, frozen=True, gc=False):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRuleStatus(Value, frozen=True, gc=False):
    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(ApiObject, frozen=True, gc=False):
    """A taint for the selected devices: of v1 since 1.37, of v1beta2 in 1.36."""

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()
