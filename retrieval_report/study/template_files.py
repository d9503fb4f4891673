"""Read and fill the files in the folder ``templates``."""

from functools import cache
from importlib import resources

import jinja2

from retrieval_report.study.terminal import visible


@cache
def environment() -> jinja2.Environment:
    """Return what fills the templates: it escapes text in HTML, and refuses names not given."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: asset(f"{name}.j2")),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"visible": visible, "plain": _plain}
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def asset(name: str) -> str:
    """Return the text of a template, script or style sheet."""
    folder = resources.files("retrieval_report.study") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return "–" if value is None else str(value)
