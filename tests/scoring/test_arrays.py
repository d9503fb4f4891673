"""Columns as keys: order and equality of every type survive."""

import os

import numpy as np
import polars as pl
import pytest

from retrieval_report.scoring import arrays


def test_keys_of_ids_do_not_depend_on_their_company():
    ids = pl.Series(["q1", "", "ü", "q10"])
    assert arrays.keys_of(ids)[[2]].tolist() == arrays.keys_of(pl.Series(["ü"])).tolist()
    assert len(set(arrays.keys_of(ids).tolist())) == 4
    # the draws of published reports hang on these numbers: they may never change
    assert arrays.keys_of(pl.Series(["q1", "model"])).tolist() == GOLDEN_TEXT
    assert arrays.keys_of(pl.Series([-1, 7])).tolist() == GOLDEN_WHOLE


GOLDEN_TEXT = [5263896526582756136, 15371462944316345693]
GOLDEN_WHOLE = [16490336266968443936, 7191089600892374487]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking is what is tried
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_starts_threads_of_its_own():
    work = np.array([0, arrays.SERIAL_BELOW, 2 * arrays.SERIAL_BELOW])
    arrays.over_ranges(lambda first, last: None, work, 2)
    child = os.fork()
    if child == 0:  # pragma: no cover - in another process
        os._exit(0 if len(arrays.over_ranges(lambda first, last: last, work, 2)) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
