"""Provide Vega, Vega-Lite and Vega's interpreter as one script from an installed package; nothing is downloaded."""

from __future__ import annotations

from functools import cache

# The interpreter evaluates expressions without `eval`, so that the page can forbid it.
SNIPPET = "window.embedChart = vegaEmbed;"


@cache
def vega_bundle() -> str:
    """Return a script that defines ``window.embedChart`` and nothing else.

    The bundle's own names stay inside a function, and no text in it ends the script element early.
    """
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(SNIPPET)
    return f"(()=>{{{bundle}}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")
