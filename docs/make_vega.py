"""Make the JavaScript that draws the charts of a report, ``vega.js`` among the package's templates:
``python docs/make_vega.py``, with the extra ``images`` installed.

It is Vega, Vega-Lite and Vega-Embed as vl-convert bundles them; ``vega.LICENSES.txt`` stands beside
it. When another version of vl-convert makes it, change the three values below and the versions in
that file.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "retrieval_report/study/templates/vega.js"
VL_CONVERT = "1.9.0"
VEGA_LITE = "6.4.1"
SHA256 = "b326d855c22918a36c20f110839b48b9e329f54121fa6fc110903b7fb56dada3"
# Vega's interpreter evaluates expressions without `eval`, so that the page can forbid it.
SNIPPET = "window.embedChart = vegaEmbed;"


def bundle() -> str:
    """Return a script that defines ``window.embedChart`` and nothing else.

    The bundle's own names stay inside a function, and no text in it ends the script element early.
    """
    import vl_convert

    script = vl_convert.javascript_bundle(SNIPPET, VEGA_LITE.rpartition(".")[0])
    return f"(()=>{{{script}}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")


if __name__ == "__main__":
    FILE.write_bytes(bundle().encode())
