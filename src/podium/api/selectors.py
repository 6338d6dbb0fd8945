"""Label and node selectors, compiled from what users write into values that match.

All are hashable with a cached hash, so that caches elsewhere can be keyed by them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from podium.api.affinity import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from podium.api.meta import HashedValue, LabelSelector, LabelSelectorRequirement
from podium.api.pods import Pod
from podium.api.requirements import (
    DOES_NOT_EXIST,
    EXISTS,
    GT,
    IN,
    LT,
    NOT_IN,
    Requirement,
    aggregate,
    invalid,
    not_supported,
    requirement_problems,
)
from podium.errors import InvalidSelector

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "NodeSelectorMatcher",
    "NodeTerm",
    "RequiredNodeAffinity",
    "Requirement",
    "Selector",
    "WeightedNodeTerm",
    "from_map",
    "label_selector",
    "node_selector",
    "preferred_problems",
    "preferred_terms",
]

NAME_FIELD = "metadata.name"

_LABEL_OPERATORS = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST)
_NODE_OPERATORS = (*_LABEL_OPERATORS, GT, LT)
_FIELD_OPERATORS = (IN, NOT_IN)


class Selector(HashedValue, frozen=True, gc=False):
    """A compiled label selector: all requirements must hold."""

    requirements: tuple[Requirement, ...] = ()
    matches_nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        for requirement in self.requirements:
            if not requirement.matches_value(labels.get(requirement.key)):
                return False
        return not self.matches_nothing

    @property
    def is_empty(self) -> bool:
        """Whether it has no requirements and matches everything; NOTHING is not empty."""
        return not self.requirements and not self.matches_nothing

    @property
    def keys(self) -> frozenset[str]:
        """Return the label keys that a match depends on."""
        return _keys(self)

    @property
    def required_label(self) -> str | None:
        """A label that every matched object has, as ``key=value``; ``None`` if there is none."""
        for requirement in self.requirements:
            if requirement.operator == IN and len(requirement.values) == 1:
                return f"{requirement.key}={requirement.values[0]}"
        return None

    def and_equals(self, pairs: Mapping[str, str]) -> "Selector":
        """Return this selector with ``key = value`` added for each pair."""
        return self.merge(from_map(pairs))

    def merge(self, other: "Selector") -> "Selector":
        """Return a selector for what both select; merging with NOTHING gives NOTHING."""
        if self.matches_nothing or other.matches_nothing:
            return NOTHING
        if not self.requirements:
            return other
        return _selector(self.requirements + other.requirements) if other.requirements else self


EVERYTHING = Selector()
NOTHING = Selector(matches_nothing=True)


def label_selector(selector: LabelSelector | None) -> Selector:
    """Compile a label selector; None selects nothing, ``{}`` everything."""
    if selector is None:
        return NOTHING
    pairs = tuple(sorted(selector.match_labels.items()))
    return _compile_labels(pairs, selector.match_expressions)


def label_names(labels: Mapping[str, str]) -> Iterator[str]:
    """Yield ``key=value`` for each label, as ``Selector.required_label`` does."""
    return (f"{key}={value}" for key, value in labels.items())


def from_map(pairs: Mapping[str, str]) -> Selector:
    """Select by equality with each pair, unvalidated, as nodeSelector and services do."""
    if not pairs:
        return EVERYTHING
    return _selector(Requirement(key, IN, (value,)) for key, value in pairs.items())


@lru_cache(maxsize=16384)
def _compile_labels(
    pairs: tuple[tuple[str, str], ...], expressions: tuple[LabelSelectorRequirement, ...]
) -> Selector:
    requirements = [Requirement(key, IN, (value,)) for key, value in pairs]
    for expression in expressions:
        if expression.operator not in _LABEL_OPERATORS:
            raise InvalidSelector(f'"{expression.operator}" is not a valid label selector operator')
        requirements.append(_requirement(expression))
    for requirement in requirements:
        if problems := requirement_problems(requirement):
            raise InvalidSelector(aggregate(problems))
    return _selector(requirements)


def _selector(requirements: Iterable[Requirement]) -> Selector:
    """Sort requirements and drop repeated ones, so that selectors of equal meaning are equal."""
    distinct = {
        (found.key, found.operator, tuple(sorted(set(found.values)))) for found in requirements
    }
    return Selector(tuple(Requirement(*parts) for parts in sorted(distinct)))


@lru_cache(maxsize=16384)
def _keys(selector: Selector) -> frozenset[str]:
    return frozenset(requirement.key for requirement in selector.requirements)


class NodeTerm(HashedValue, frozen=True, gc=False):
    """One term of a node selector; a term with ``errors`` matches no node."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    errors: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        for requirement in self.labels:
            if not requirement.matches_value(labels.get(requirement.key)):
                return False
        return not self.errors and self.matches_name(name)

    def matches_name(self, name: str) -> bool:
        """Match the requirements on fields; a node without a name passes."""
        if not name:
            return True
        return all(
            requirement.matches_value(name if requirement.key == NAME_FIELD else "")
            for requirement in self.fields
        )


class NodeSelectorMatcher(HashedValue, frozen=True, gc=False):
    """Matches if any term does. Empty terms are left out, because they match no node."""

    terms: tuple[NodeTerm, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        return any(term.matches(labels, name) for term in self.terms)

    @property
    def errors(self) -> tuple[str, ...]:
        """Return why terms are invalid; an invalid term does not keep others from matching."""
        return tuple(error for term in self.terms for error in term.errors)

    def check(self) -> None:
        """Raise ``InvalidSelector`` if any term is invalid."""
        if self.errors:
            raise InvalidSelector(aggregate(self.errors))


class WeightedNodeTerm(HashedValue, frozen=True, gc=False):
    weight: int
    term: NodeTerm


@lru_cache(maxsize=16384)
def node_selector(selector: NodeSelector) -> NodeSelectorMatcher:
    """Compile a node selector; problems of its terms are in its ``errors``."""
    return NodeSelectorMatcher(
        tuple(
            _term(term, f"nodeSelectorTerms[{index}]")
            for index, term in enumerate(selector.node_selector_terms)
            if not _asks_nothing(term)
        )
    )


@lru_cache(maxsize=4096)
def only_node(name: str) -> NodeSelector:
    """Return a selector that only the node with this name matches."""
    named = NodeSelectorRequirement(NAME_FIELD, IN, (name,))
    return NodeSelector((NodeSelectorTerm(match_fields=(named,)),))


def preferred_terms(terms: tuple[PreferredSchedulingTerm, ...]) -> tuple[WeightedNodeTerm, ...]:
    """Compile preferences; raise if any of them is invalid."""
    compiled = _weighted(terms)
    if errors := _errors(compiled):
        raise InvalidSelector(aggregate(errors))
    return compiled


def preferred_problems(terms: tuple[PreferredSchedulingTerm, ...]) -> list[str]:
    """Return what is wrong with each preference; empty if all are valid."""
    return _errors(_weighted(terms))


def _weighted(terms: tuple[PreferredSchedulingTerm, ...]) -> tuple[WeightedNodeTerm, ...]:
    return tuple(
        WeightedNodeTerm(term.weight, _term(term.preference, f"[{index}]"))
        for index, term in enumerate(terms)
        if term.weight and not _asks_nothing(term.preference)
    )


def _errors(compiled: tuple[WeightedNodeTerm, ...]) -> list[str]:
    return [error for weighted in compiled for error in weighted.term.errors]


def _asks_nothing(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _term(term: NodeSelectorTerm, path: str) -> NodeTerm:
    errors: list[str] = []
    for index, expression in enumerate(term.match_expressions):
        errors += _label_problems(expression, f"{path}.matchExpressions[{index}].")
    for index, expression in enumerate(term.match_fields):
        errors += _field_problems(expression, f"{path}.matchFields[{index}].")
    return NodeTerm(
        labels=() if errors else tuple(map(_requirement, term.match_expressions)),
        fields=() if errors else tuple(map(_requirement, term.match_fields)),
        errors=tuple(errors),
    )


def _requirement(expression: NodeSelectorRequirement | LabelSelectorRequirement) -> Requirement:
    return Requirement(expression.key, expression.operator, expression.values)


def _label_problems(expression: NodeSelectorRequirement, path: str) -> list[str]:
    if expression.operator not in _NODE_OPERATORS:
        return [not_supported(f"{path}operator", expression.operator, _NODE_OPERATORS)]
    return requirement_problems(_requirement(expression), path)


def _field_problems(expression: NodeSelectorRequirement, path: str) -> list[str]:
    if expression.operator not in _FIELD_OPERATORS:
        return [not_supported(f"{path}operator", expression.operator, _FIELD_OPERATORS)]
    if len(expression.values) != 1:
        return [invalid(f"{path}values", expression.values, "must have one element")]
    return []


class RequiredNodeAffinity(HashedValue, frozen=True, gc=False):
    """What a pod requires of a node: its nodeSelector and its required node affinity."""

    pairs: tuple[tuple[str, str], ...] = ()
    affinity: NodeSelectorMatcher | None = None

    @staticmethod
    def of(pod: Pod) -> "RequiredNodeAffinity":
        """Compile a pod's requirements; pods with equal ones share one object."""
        spec = pod.spec
        affinity = spec.affinity.node_affinity if spec.affinity else None
        required = affinity.required if affinity else None
        if required is None and not spec.node_selector:
            return _ANYWHERE
        return _required(tuple(sorted(spec.node_selector.items())), required)

    @property
    def is_empty(self) -> bool:
        """Whether every node matches."""
        return not self.pairs and self.affinity is None

    @property
    def has_errors(self) -> bool:
        return self.affinity is not None and bool(self.affinity.errors)

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        for key, value in self.pairs:
            if labels.get(key) != value:
                return False
        return self.affinity is None or self.affinity.matches(labels, name)


_ANYWHERE = RequiredNodeAffinity()


@lru_cache(maxsize=16384)
def _required(
    pairs: tuple[tuple[str, str], ...], required: NodeSelector | None
) -> RequiredNodeAffinity:
    return RequiredNodeAffinity(pairs, node_selector(required) if required is not None else None)
