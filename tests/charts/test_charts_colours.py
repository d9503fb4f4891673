"""The colours of lines are far from each other and from the page, also to colour-blind readers."""

from itertools import combinations

import numpy as np
import pytest

from retrieval_report.charts.layers import PALETTE
from retrieval_report.kernels.lists import Floats
from retrieval_report.writing.colours import GREY

# What readers see of linear red, green and blue: Machado, Oliveira and Fernandes (2009).
SEEN = {
    "all colours": np.eye(3),
    "no green": [[0.367, 0.861, -0.228], [0.28, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}
XYZ = [[0.4339, 0.3762, 0.1899], [0.2127, 0.7152, 0.0722], [0.0178, 0.1095, 0.8730]]  # white is 1


def linear(colour: str) -> Floats:
    """Linear red, green and blue of a colour."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    light: Floats = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return light


def lab(colour: str, seen: object) -> Floats:
    """CIELAB of a colour as a reader sees it."""
    x, y, z = np.cbrt(XYZ @ np.clip(np.asarray(seen) @ linear(colour), 0.001, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(linear(colour) @ XYZ[1]) + 0.05 for colour in (one, other))
    return light / dark


@pytest.mark.parametrize("page", ["#ffffff", "#1e1e1e"])
def test_colours_stand_out_from_the_page(page: str):
    assert min(contrast(colour, page) for colour in (*PALETTE, GREY)) >= 3


@pytest.mark.parametrize(
    ("reader", "least"), [("all colours", 35), ("no green", 11), ("no red", 13)]
)
def test_no_two_colours_are_alike(reader: str, least: float):
    seen = [lab(colour, SEEN[reader]) for colour in (*PALETTE, GREY)]
    apart = [float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)]
    assert min(apart) >= least
