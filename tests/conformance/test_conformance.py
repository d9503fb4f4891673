"""What nine systems' own tests expect, with the tolerance each case states."""

import os
from collections import Counter

import pytest

from conformance import FOLDER_VARIABLE, SKIP_REASON, SYSTEMS, disagreements, load_cases, run
from conformance_plans import Case, reason_left_out

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.filterwarnings("ignore:no query has a relevant item"),
    pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason=SKIP_REASON),
]

LEFT_OUT = {
    "F measure with beta other than 1": 4,
    "bpref divided by R where fewer others are judged": 1,
    "bpref of the top k": 3,
    "a tie is one threshold: every relevant item of it gets the precision at its end": 135,
    "not in the catalogue: accuracy": 6,
    "not in the catalogue: arp": 7,
    "not in the catalogue: bpm": 6,
    "not in the catalogue: compat": 9,
    "not in the catalogue: err_ia": 2,
    "not in the catalogue: infap": 4,
    "not in the catalogue: insq": 6,
    "not in the catalogue: inst": 6,
    "not in the catalogue: iprec": 15,
    "not in the catalogue: judged": 13,
    "not in the catalogue: nerr10": 3,
    "not in the catalogue: nerr11": 3,
    "not in the catalogue: nerr8": 3,
    "not in the catalogue: nerr9": 3,
    "not in the catalogue: sdcg": 3,
}


def assert_all_agree(cases: list[Case]):
    outcomes = run(cases)
    lines = [line for case in cases for line in disagreements(case, outcomes[case.key])]
    assert not lines, f"{len(lines)} values of {len(cases)} cases:\n" + "\n".join(lines)


def test_there_are_824_direct_cases_and_all_can_be_asked():
    direct = [case for system in SYSTEMS for case in load_cases(system) if case.direct]
    assert len(direct) == 824
    assert [case.name for case in direct if reason_left_out(case)] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_direct_cases(system: str):
    cases = [case for case in load_cases(system) if case.direct]
    assert_all_agree(cases)


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != "pytrec_eval"])
def test_further_cases(system: str):
    """Weights, masks, own gains and discounts, macro means, empty lists, another order inside
    ties.
    """
    cases = [
        case for case in load_cases(system) if not case.direct and reason_left_out(case) is None
    ]
    assert cases
    assert_all_agree(cases)


def test_cases_left_out():
    """Every case that is not run, by reason: a growing number needs a reason, here."""
    cases = [case for system in SYSTEMS for case in load_cases(system)]
    reasons = Counter(reason for case in cases if (reason := reason_left_out(case)))
    assert reasons == LEFT_OUT
