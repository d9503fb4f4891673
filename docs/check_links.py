"""Check the links of the built site: what they name inside it must exist; addresses outside must be
well formed.

    python docs/check_links.py build/docs

Nothing is asked of the network. What a page would *load* from elsewhere (scripts, styles, fonts,
pictures) is an error.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
LOADING_LINKS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "prefetch",
    "manifest",
    "shortcut",
}
IN_STYLES = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
IN_SCRIPTS = re.compile(r"(?:import|from|import\(|fetch\(|src\s*=)\s*['\"](https?://[^'\"]+)")
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\.[a-z]{2,}(:[0-9]+)?", re.IGNORECASE)


class Page(HTMLParser):
    """What one page names, links to and loads."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.texts: list[str] = []  # of styles and scripts in the page
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the names, links and loads of one tag."""
        found = {name: value or "" for name, value in attrs}
        self.ids.update(
            value
            for name, value in found.items()
            if name == "id" or (tag == "a" and name == "name")
        )
        self._inside = tag in ("script", "style")
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in LOADS and LOADS[tag] in found:
            self.loads.append(found[LOADS[tag]])
        elif tag == "link" and LOADING_LINKS & set(found.get("rel", "").split()):
            self.loads.append(found.get("href", ""))

    def handle_data(self, data: str) -> None:
        """Keep styles and scripts, which may load something too."""
        if self._inside:
            self.texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave a style or a script."""
        self._inside = False


def problems(folder: Path) -> list[str]:
    """Every broken link and everything loaded from elsewhere, as lines of text; none if all is
    well.
    """
    files = [
        file for file in sorted(folder.rglob("*.html")) if "_static" not in file.parts
    ]  # there: templates
    pages = {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in files}
    found = []
    for file, page in pages.items():
        name = file.relative_to(folder.resolve())
        found += [f"{name}: loads {url}" for url in _loaded(page)]
        found += [
            f"{name}: {text}"
            for url in dict.fromkeys([*page.links, *page.loads])
            if (text := _wrong(url, file, pages))
        ]
    for file in sorted(folder.rglob("*.css")):
        found += [
            f"{file.relative_to(folder)}: loads {url}"
            for url in IN_STYLES.findall(file.read_text("utf-8"))
        ]
    return found


def _loaded(page: Page) -> list[str]:
    """What the page takes from the network when it is opened."""
    outside = [url for url in page.loads if urlsplit(url).netloc]
    return outside + [
        url
        for text in page.texts
        for pattern in (IN_STYLES, IN_SCRIPTS)
        for url in pattern.findall(text)
    ]


def _wrong(url: str, file: Path, pages: dict[Path, Page]) -> str | None:
    """What is wrong with one link, if anything."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        return (
            None if HOST.fullmatch(parts.netloc) and " " not in url else f"malformed address {url}"
        )
    if parts.scheme in ("mailto", "data"):
        return None
    if parts.scheme or parts.netloc:
        return f"unknown kind of address {url}"
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not target.is_file():
        return f"no such file {url}"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].ids:
        return f"no such heading {url}"
    return None


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.exit(1 if lines else 0)
