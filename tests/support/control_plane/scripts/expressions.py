"""Scripts: expressions in CEL, in device classes, claims and custom resource definitions."""

from tests.cel.test_answers import RULES, SELECTORS, SINCE_1_37, STOPS_EARLIER
from tests.support.control_plane.comparison import MERGE
from tests.support.control_plane.scripts.claims import choice, claim, exactly
from tests.support.control_plane.scripts.customizing import DEFINITIONS, wait_until_established
from tests.support.control_plane.scripts.devices import CLASSES, GROUP, named
from tests.support.control_plane.scripts.objects import definition

_EVERY_TENTH = [one["selector"] for one in SELECTORS if one["selector"] not in STOPS_EARLIER][::10]
# As 1.36, podium accepts what 1.37 does.
_AS_IN_1_37 = {"device{}"}
_MAP = '{"b":1,"a":2}.map'  # Go visits the keys of a map in random order


def selecting(*expressions):
    return [{"cel": {"expression": text}} for text in expressions]


def selectors_of_classes(ask):
    path = f"{CLASSES}?dryRun=All"
    for answer in SELECTORS:
        text = answer["selector"]
        if text not in STOPS_EARLIER | _AS_IN_1_37:
            ask.create(path, named({"selectors": selecting(text)}))
    ask.create(path, named({"selectors": selecting("true", "1", "nosuch", "false")}))
    ask.create(path, named({"selectors": selecting("x" * (10 * 1024 + 1), "'\t\a\x7f\u00ad\"'")}))
    ask.create(CLASSES, named({"selectors": selecting("true")}, "selecting"))
    for spec in (
        {"selectors": selecting("nosuch")},
        {"selectors": selecting("true", "device.driver")},
        {"selectors": selecting("true"), "extendedResourceName": "a.b/gpu"},
        {"selectors": selecting("device.driver == 'a'")},
    ):
        ask.patch(f"{CLASSES}/selecting", {"spec": spec}, MERGE)
    ask.delete(f"{CLASSES}/selecting")


def selectors_of_claims(ask):
    claims = ask.group(GROUP, "resourceclaims")
    templates = ask.group(GROUP, "resourceclaimtemplates")
    for text in _EVERY_TENTH:
        spec = claim(exactly(selectors=selecting("true", text)))
        ask.create(f"{claims}?dryRun=All", named(spec))
        spec = claim({"name": "r", "firstAvailable": [choice(selectors=selecting(text))]})
        ask.create(f"{templates}?dryRun=All", named({"spec": spec}))
    ask.create(templates, named({"spec": claim(exactly(selectors=selecting("true")))}, "kept"))
    wrong = {"spec": {"spec": claim(exactly(selectors=selecting("nosuch")))}}
    ask.patch(f"{templates}/kept", wrong, MERGE)
    ask.delete(f"{templates}/kept")


TEXT = {"type": "string", "maxLength": 10}
NUMBER = {"type": "integer"}
MANY = {"type": "array", "maxItems": 5, "items": TEXT}
PORTS = {
    "type": "array",
    "maxItems": 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": TEXT, "port": NUMBER},
    },
}


def ruled(schema, *rules, **more):
    """A schema with rules; one that is a text has nothing else."""
    listed = [{"rule": one} if isinstance(one, str) else one for one in rules]
    return {**schema, "x-kubernetes-validations": [{**one, **more} for one in listed]}


def fields(**properties):
    return {"type": "object", "properties": properties}


def _rule_schemas():
    """Schemas of a field, of which some are fine and some are not."""
    for text in (
        "self > 1",
        "self",
        "self.x > 1",
        "1",
        "oldSelf > self",
        "self > ",
        "nosuch(self)",
        "self == 'a'",
        "\nself > 1\n",
        "self\n> 1",
        "",
        "  ",
        "self > 1 && <b> & 'ü'",
        "type(dyn(1)) == int",
    ):
        yield ruled(NUMBER, text)
    for more in (
        {"message": ""},
        {"message": " "},
        {"message": "two\nlines"},
        {"message": " fine "},
        {"message": 'quo"ted', "messageExpression": "nosuch"},
        {"messageExpression": ""},
        {"messageExpression": " "},
        {"messageExpression": "1"},
        {"messageExpression": "string(self)"},
        {"messageExpression": "duration('x') == duration('1s') ? '' : ''"},
        {"messageExpression": "'a'.matches('(') ? '' : ''"},
        {"reason": "FieldValueForbidden"},
        {"reason": "FieldValueOdd", "messageExpression": "1"},
        {"reason": ""},
        {"fieldPath": ".x"},
        {"fieldPath": " "},
        {"fieldPath": ".a\n"},
        {"optionalOldSelf": True},
        {"optionalOldSelf": False},
        {"rule": "oldSelf.hasValue()", "optionalOldSelf": True},
        {"rule": "oldSelf.orValue(1) > 0", "optionalOldSelf": True},
        {"rule": "oldSelf > 0", "optionalOldSelf": False},
    ):
        yield ruled(NUMBER, {"rule": "self > 1", **more})
    yield from _path_schemas()
    yield from _shape_schemas()
    yield from _cost_schemas()


def _path_schemas():
    below = fields(a=fields(b=NUMBER), labels={"type": "object", "additionalProperties": TEXT})
    odd = {**below, "properties": {**below["properties"], "it's": NUMBER, "a.b": NUMBER}}
    for path in (
        ".a",
        ".a.b",
        "a",
        ".nosuch",
        ".a.nosuch",
        ".a.b.c",
        ".labels.x",
        ".labels['x/y']",
        "['a']",
        "['a'].b",
        "['a",
        "[a]",
        "[0]",
        ".",
        "..a",
        ".a[",
        ".a]",
        "['it\\'s']",
        "['a.b']",
        "['\\q']",
    ):
        yield ruled(odd, {"rule": "true", "fieldPath": path})


def _shape_schemas():
    yield ruled(fields(a=NUMBER), "self.a > 0", "has(self.a)", "self.b", "self == oldSelf", "self")
    yield ruled(fields(namespace=TEXT), "self.namespace == ''", "self.__namespace__ == ''")
    dashed = {"type": "object", "properties": {"a-b": NUMBER, "c.d": NUMBER, "1": NUMBER}}
    yield ruled(dashed, "self.a__dash__b > 0 && self.c__dot__d > 0", "self.a", "self.`a-b` > 0")
    yield ruled(MANY, "self.all(x, x != '')", "self.exists(x, x)", "self[0] == 1", "self + self")
    yield ruled({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}, "true")
    labels = {"type": "object", "maxProperties": 5, "additionalProperties": TEXT}
    yield ruled(labels, "self.a == ''", "self['a'] == 1", "self.all(k, k != '')", "'a' in self")
    yield ruled({"x-kubernetes-int-or-string": True}, "self == 1 || self == 'a'", "self.a")
    yield ruled({"x-kubernetes-preserve-unknown-fields": True}, "true")
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    yield ruled(free, "self.a == 1", "true")
    for form, text in (
        ("byte", "self == b'a'"),
        ("date", "self > timestamp('2020-01-01T00:00:00Z')"),
        ("date-time", "self.getFullYear() > 2020"),
        ("duration", "self > duration('1h')"),
        ("uuid", "self == ''"),
    ):
        yield ruled({"type": "string", "format": form}, text, "self.nosuch()")
    yield ruled({"type": "number"}, "self > 1.5", "self > 1", "self == 'a'")
    yield ruled({"type": "boolean"}, "self", "!self", "self > 1")
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    yield ruled(
        {**embedded, "x-kubernetes-preserve-unknown-fields": True},
        "self.kind == 'Pod' && self.metadata.name == 'a'",
        "self.metadata.labels",
        "self.spec",
    )
    yield {"type": "integer", "allOf": [ruled({}, "self > 1")]}
    yield {"type": "array", "maxItems": 2, "items": ruled(TEXT, "self != oldSelf")}
    yield {**PORTS, "items": ruled(PORTS["items"], "self.port >= oldSelf.port")}
    inner = ruled(fields(a=NUMBER), "oldSelf.a == self.a")
    yield {"type": "array", "items": {"type": "array", "items": inner}}
    yield {"type": "object", "additionalProperties": ruled(TEXT, "self == oldSelf")}
    yield {**ruled(NUMBER, "self > 1"), "default": 1}
    yield {**ruled(NUMBER, "self > 1"), "default": 2}
    yield {**fields(a=ruled(NUMBER, "self > oldSelf")), "default": {"a": 1}}
    yield {**ruled(NUMBER, "nosuch"), "default": 2}


def _cost_schemas():
    text = {"type": "string"}
    yield ruled(text, "self.matches('a+')", "self.contains(self)", "self.startsWith('a')")
    unbounded = {"type": "array", "items": text}
    yield ruled(unbounded, "self.all(x, x.contains('a'))")
    yield ruled(unbounded, "self.all(x, self.all(y, x == y))")
    yield ruled({**unbounded, "maxItems": 100}, "self.all(x, self.all(y, x == y))")
    short = {"type": "array", "items": TEXT, "maxItems": 1000}
    yield ruled(short, "self.all(x, self.all(y, x == y))")
    yield {"type": "array", "items": ruled(text, "self.contains('a')")}
    yield {"type": "array", "maxItems": 10, "items": ruled(text, "self.contains('a')")}
    yield {"type": "array", "items": ruled(fields(a=NUMBER, b=text), "self.a > 1", "self.b > 'a'")}
    required = {**fields(a=NUMBER, b=text), "required": ["a", "b"]}
    yield {"type": "array", "items": ruled(required, "self.b > 'a'")}
    yield {"type": "object", "additionalProperties": ruled(text, "self.contains('a')")}
    yield ruled({**text, "enum": ["a", "bcd"]}, "self.contains('a')")
    yield ruled({"type": "string", "format": "byte"}, "self == b'a'")
    costly = {"rule": "self > 'a'", "messageExpression": "'%s'.format([self + self + self])"}
    yield ruled(text, costly)
    joined = "lists.range(self).map(x, 'a').join()"
    yield ruled(NUMBER, {"rule": "true", "messageExpression": joined})
    dear = ruled({**unbounded, "maxItems": 60}, "self.all(x, self.all(y, x < y))")
    yield fields(a=ruled({**unbounded, "maxItems": 9}, *["self.all(x, self.all(y, x < y))"] * 6))
    yield dear


def rules_of_definitions(ask):
    path = f"{DEFINITIONS}?dryRun=All"
    for schema in _rule_schemas():
        ask.create(path, definition("rules", "Rule", fields(spec=fields(x=schema))))
    for answer in RULES:
        schema = fields(spec=ruled(fields(n=NUMBER), answer["rule"]))
        ask.create(path, definition("rules", "Rule", schema))
    for text in (
        "self.metadata.name == 'a'",
        "self.metadata.generateName.contains(self.metadata.name)",
        "self.metadata.name.contains('a') && self.kind.contains('b')",
        "self.metadata.labels",
        "self.apiVersion == ''",
        "self.spec.x > 0",
        "self.spec == oldSelf.spec",
    ):
        ask.create(path, definition("rules", "Rule", ruled(fields(spec=fields(x=NUMBER)), text)))


def evaluated_rules(ask):
    """All recorded rules that compile, on one object: violations and failures come in order."""
    answers = [one for one in RULES if one["rule"] not in SINCE_1_37 and _MAP not in one["rule"]]
    rules = [one["rule"] for one in answers if one["1.37"].startswith(("true", "false", "error:"))]
    at = f"{DEFINITIONS}/evaluated.example.com"
    schema = fields(spec=ruled(fields(n=NUMBER), *rules))
    ask.create(DEFINITIONS, definition("evaluated", "Evaluated", schema))
    wait_until_established(ask, at)
    path = ask.group("example.com/v1", "evaluated")
    kind = {"apiVersion": "example.com/v1", "kind": "Evaluated"}
    for number in (1, 0, -5):
        ask.create(path, {**kind, "metadata": {"name": "a"}, "spec": {"n": number}})
    ask.side.request("DELETE", at)


def changed_definitions(ask):
    """Versions with the same and with different schemas, and an expression that is stored."""
    at = f"{DEFINITIONS}/changing.example.com"
    good = definition("changing", "Change", fields(spec=ruled(fields(x=NUMBER), "self.x > 0")))
    ask.create(DEFINITIONS, good)
    wait_until_established(ask, at)
    bad = fields(spec=ruled(fields(x=NUMBER), "self.x > 0", "self.y > 0"))
    (version,) = good["spec"]["versions"]
    second = {**version, "name": "v2", "storage": False}
    for versions in (
        [{**version, "schema": {"openAPIV3Schema": bad}}],
        [version, second],
        [version, {**second, "schema": {"openAPIV3Schema": bad}}],
        [{**one, "schema": {"openAPIV3Schema": bad}} for one in (version, second)],
    ):
        ask.patch(f"{at}?dryRun=All", {"spec": {"versions": versions}}, MERGE)
    ask.patch(at, {"metadata": {"labels": {"a": "b"}}}, MERGE)
    ask.side.request("DELETE", at)


ALL = (
    selectors_of_classes,
    selectors_of_claims,
    rules_of_definitions,
    evaluated_rules,
    changed_definitions,
)
