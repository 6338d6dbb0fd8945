"""Names of fields as CEL writes them: ``my-field`` is ``my__dash__field`` in an expression."""

from __future__ import annotations

import re
from typing import Final

KEYWORDS: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return"),
        *("var", "void", "while"),
    )
)
_SUPPORTED: Final = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*")
_ESCAPED: Final = re.compile(r"__|[-./]")
_ESCAPES: Final = {
    "__": "__underscores__",
    ".": "__dot__",
    "-": "__dash__",
    "/": "__slash__",
}


def escape(name: str) -> str | None:
    """Return the name that stands for a field in expressions; None if nothing can."""
    if name in KEYWORDS:
        return f"__{name}__"
    if not _SUPPORTED.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], name)
