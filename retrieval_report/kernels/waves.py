"""The characteristic function E exp(i·t·score) of a list's score under random tie order.

It is computed slot by slot. All that the rest of the score depends on is how many items of each
grade the tie has used so far, and there are few such states even where there are more orders than
atoms in the universe.
"""

import math

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import allocating, costs, power
from retrieval_report.kernels.lists import Floats, Lists, ties_of

Complex = NDArray[np.complex128]
SUM = 0
AP = 1
ERR = 2  # Σ value·weight; Σ values of the relevant so far / rank; ERR
# What an item at a rank adds to a score: which of these, what each grade counts (AP: 0 if it is not
# relevant) or ends the search by, and the weight of each rank, from index 1
Added = tuple[int, Floats, Floats]
# The first argument of a characteristic function, and what scores are multiplied by in them
Times = tuple[int, float]


@costs(lambda _q, _lists, depth, _added, _times, wave: 4.0 * depth * wave.size)
@allocating
def list_wave(q: int, lists: Lists, depth: int, added: Added, times: Times, wave: Complex) -> None:
    """Multiply ``wave`` by the characteristic function of a list's score at its times."""
    form, value, weight = added
    first, step = times
    position, before, going = 1, 0.0, 1.0  # rank, values so far, chance to get so far
    for tie in ties_of(q, lists):
        items = lists.items[lists.tie[tie] : lists.tie[tie + 1]].copy()
        grades = lists.grade[lists.tie[tie] : lists.tie[tie + 1]].astype(np.int64)
        size = items.sum()
        slots = min(size, depth - position + 1)
        if slots < 1:
            break
        most = np.argmax(items)
        items[0], items[most] = items[most], items[0]
        grades[0], grades[most] = grades[most], grades[0]
        stride = np.ones(items.size + 1, np.int64)  # of the numbers of states; the last is how many
        for kind in range(1, items.size):
            stride[kind + 1] = stride[kind] * (min(items[kind], slots) + 1)
        dealt = np.zeros(items.size, np.int64)
        now = np.zeros((stride[items.size], wave.size), np.complex128)
        now[0, :] = wave
        for slot in range(slots):
            new = np.zeros_like(now)
            for state in range(now.shape[0]):
                dealt[0], total, on = slot, before, going
                for kind in range(1, items.size):
                    dealt[kind] = state % stride[kind + 1] // stride[kind]
                    dealt[0] -= dealt[kind]
                if dealt[0] < 0 or dealt[0] > items[0]:
                    continue
                for kind in range(items.size):
                    kind_value = value[grades[kind]]
                    total += dealt[kind] * kind_value
                    on *= power(1.0 - kind_value, dealt[kind]) if form == ERR else 1.0
                for kind in range(items.size):
                    remaining = items[kind] - dealt[kind]
                    if remaining == 0:
                        continue
                    amount = value[grades[kind]]
                    if form == AP:
                        amount = total + amount if amount else 0.0
                    elif form == ERR:
                        amount *= on
                    angle = step * amount * weight[position + slot]
                    turn = complex(math.cos(angle), math.sin(angle))
                    angle *= first
                    # Part by part, because NumPy divides complex numbers by another rule than Numba.
                    factor = complex(
                        math.cos(angle) * remaining / (size - slot),
                        math.sin(angle) * remaining / (size - slot),
                    )
                    next_state = state + (stride[kind] if kind else 0)
                    for n in range(wave.size):
                        new[next_state, n] += now[state, n] * factor
                        factor *= turn
            now = new
        wave[:] = 0.0
        for state in range(now.shape[0]):
            for n in range(wave.size):
                wave[n] += now[state, n]
        for kind in range(items.size):
            kind_value = value[grades[kind]]
            before += items[kind] * kind_value
            going *= power(1.0 - kind_value, items[kind]) if form == ERR else 1.0
        position += slots
