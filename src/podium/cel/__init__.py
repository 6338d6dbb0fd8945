"""CEL, the expression language of Kubernetes: compiled once to closures, evaluated often."""

from podium.cel.compilation import Compiled, compile_expression, compile_metered
from podium.cel.devices import DeviceView, Selector, compile_selector, device_view, with_hint
from podium.cel.environment import Environment, Library, Shape
from podium.cel.kubernetes import BASE

__all__ = [
    "BASE",
    "Compiled",
    "DeviceView",
    "Environment",
    "Library",
    "Selector",
    "Shape",
    "compile_expression",
    "compile_metered",
    "compile_selector",
    "device_view",
    "with_hint",
]
