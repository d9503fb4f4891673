"""Show a chart with a button that saves it as a picture."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from chart_display import Drawing, draw
from retrieval_report.charts import styled

INK = "#31333f"  # pictures are for paper and slides, so their background is white even if the dashboard's is dark
FORMATS = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
SCALE = 2  # pixels of a PNG per pixel of the page


def show_chart(drawing: Drawing, **shown: Any) -> Any:
    """Draw a chart like `draw`, and offer it as a file."""
    event = draw(drawing, **shown)
    mark = sha256(repr(drawing.key).encode()).hexdigest()[:12]
    name = re.sub(r"\W+", "-", str(drawing.key[0]))
    with st.popover("Save this chart"):
        for kind, mime in FORMATS.items():
            st.download_button(
                kind.upper(),
                partial(_made, drawing.build, kind),
                f"{name}.{kind}",
                mime,
                key=f"{mark} {kind}",
                on_click="ignore",
            )
    return event


def _made(build: Callable[[], Any], kind: str) -> bytes:
    return picture(build(), kind)


def picture(chart: Any, kind: str) -> bytes:
    """Return a chart as a picture on white, made without network."""
    file: Any = io.StringIO() if kind == "svg" else io.BytesIO()
    sized = {"scale_factor": SCALE} if kind == "png" else {}
    styled(chart, text=INK).properties(background="white").save(file, format=kind, **sized)
    content = file.getvalue()
    return content.encode() if isinstance(content, str) else bytes(content)
