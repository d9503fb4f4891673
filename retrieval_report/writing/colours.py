"""The colours of the three scores and of what stands around them, in charts and in HTML.

After Okabe and Ito (2008), with light colours darkened to a contrast of 3:1 against white and
#1e1e1e.
"""

BLUE = "#0a78ba"
VERMILLION = "#d55e00"
PINK = "#c4669a"
SKY = "#3594cf"
GREY = "#8c8c8c"
GRID = "rgba(128, 128, 128, 0.22)"
EXACT, BAND, DRAWN = "expected", "90% of random orders", "an order drawn"
PRINTED, SAMPLING = "naive", "95% interval over queries"
LOOKS = {EXACT: BLUE, BAND: f"{SKY}73", DRAWN: SKY, PRINTED: VERMILLION, SAMPLING: GREY}
