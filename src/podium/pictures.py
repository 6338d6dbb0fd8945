"""SVG pictures: their colours and frame, and files of them, as SVG or (extra ``png``) as PNG."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from podium.errors import PodiumError

_ZOOM: Final = 2  # pixels for each unit of an SVG, so that text is sharp
FORMATS: Final = (".svg", ".png")
# The first that is there. resvg does not look for another sans-serif font by itself.
FONTS: Final = (
    "system-ui, -apple-system, Segoe UI, Helvetica, Arial, DejaVu Sans, Liberation Sans, "
    "Noto Sans, sans-serif"
)
BACKGROUND: Final = "<rect class='background' width='100%' height='100%'/>"
_LETTER: Final = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9' width='9' height='9'>"
    f"<text y='9' font-size='9' font-family='{FONTS}'>%s</text></svg>"
)


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours: the background, if it is painted, two sorts of text, and one for each series."""

    background: str
    text: str
    faint: str
    series: tuple[str, ...]

    def css(self) -> str:
        fills = {"background": self.background, "text": self.text, "faint": self.faint}
        fills |= {f"series{number}": colour for number, colour in enumerate(self.series)}
        return "".join(f".{name}{{fill:{colour}}}" for name, colour in fills.items())


LIGHT: Final = Theme(
    "#ffffff", "#1f2328", "#59636e", ("#2563c9", "#a8b1bc", "#d08a1d", "#3f9c6b", "#8f5bbd")
)
DARK: Final = Theme(
    "#0d1117", "#f0f6fc", "#9198a1", ("#5a9bf8", "#5d6773", "#d9a441", "#57b98a", "#b98ae0")
)


def framed(
    size: tuple[int, int],
    title: str,
    parts: Iterable[str],
    theme: Theme | None = None,
    css: Callable[[Theme], str] = Theme.css,
) -> str:
    """Return a whole picture.

    With a theme the background is left out. Without one the viewer's preference chooses between
    light and dark, and the background is painted, so that the text is readable anywhere.
    """
    width, height = size
    style, background = css(theme or LIGHT), ""
    if theme is None:
        style += f"@media(prefers-color-scheme:dark){{{css(DARK)}}}"
        background = BACKGROUND
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"
        f" width='{width}' height='{height}' role='img' font-family='{FONTS}'>"
        f"<title>{escape(title)}</title><style>{style}</style>"
        f"{background}{''.join(parts)}</svg>\n"
    )


def text(x: float, y: float, content: str, sort: str, attributes: str) -> str:
    """Return a text in the colour of this sort: ``text`` or ``faint``."""
    return f"<text x='{x:.1f}' y='{y:.1f}' class='{sort}' {attributes}>{escape(content)}</text>"


def check_picture(path: Path) -> None:
    """Raise ``PodiumError`` if a picture cannot be written there, before hours of work."""
    if path.suffix not in FORMATS:
        raise PodiumError(f"the name must end with .svg or .png, not {path.name}")
    if not path.parent.is_dir():
        raise PodiumError(f"there is no folder {path.parent}")
    if path.suffix == ".png":
        _check_png()


def _check_png() -> None:
    try:
        blank, letter = _png(_LETTER % ""), _png(_LETTER % "M")
    except ImportError as error:
        why = "a .png needs resvg_py: pip install 'podium[png]', or give a name with .svg"
        raise PodiumError(why) from error
    if blank == letter:
        raise PodiumError(
            "a .png needs a font such as DejaVu Sans, and none is installed: "
            "apt-get install fonts-dejavu-core, or give a name with .svg"
        )


def _png(svg: str) -> bytes:
    import resvg_py  # from the extra "png"

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))


def write_picture(path: Path, svg: str) -> None:
    """Write a picture in the format that its name asks for; raise ``PodiumError`` if it fails."""
    try:
        if path.suffix == ".png":
            path.write_bytes(_png(svg))
        else:
            path.write_text(svg)
    except OSError as error:
        raise PodiumError(f"{path} cannot be written: {error.strerror}") from error
