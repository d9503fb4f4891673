"""The three scores as tables and sentences for a terminal, a notebook and the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import Named, grouped
from retrieval_report.contracts.wording import whole_percent
from retrieval_report.engines.check_scores import at_measure, board
from retrieval_report.metrics.parsing import Measure, measure_text
from retrieval_report.study.notebook import html_table, html_text, scores_picture
from retrieval_report.study.table_columns import MODEL_WIDTH, joined_texts
from retrieval_report.study.terminal import frame_table, visible
from retrieval_report.ties.three_scores import DRAWN, NORMAL, RANKS
from retrieval_report.writing.names import EQUALS, first_names, listed, unlike, with_number

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

COLUMNS = "model expected shuffled_range naive off_by expected_rank shuffled_rank naive_rank"
MAX_COPIES = 3  # names of copies in a row; of more, how many there are
LEVEL = 1e-12
IS_SETTLED = (pl.col("tie_std") <= LEVEL).fill_null(False)  # whatever the order of ties
MAX_MEASURES = 6  # that a sentence names
NO_STROKES = pl.DataFrame(schema={"model": pl.String, "value": pl.Float64})


def with_copies_folded(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of models without those that are copies, which are named after their first, as in
    "06-18 = 06-28", or where that is long by what tells them from it; ``row_models`` holds all
    names of a row. As one row they have no range of ranks only because of each other.

    >>> rows = pl.DataFrame({"model": ["b", "a", "c"], "copy_of": ["a", None, None]})
    >>> with_copies_folded(rows).rows()
    [('a = b', None, ['a', 'b']), ('c', None, ['c'])]
    """
    copies: dict[str, list[str]] = grouped(rows.select("copy_of", "model").iter_rows())
    firsts = rows.filter(pl.col("copy_of").is_null())
    same = [[name, *sorted(copies.get(name, ()))] for name in firsts["model"]]
    full = [EQUALS.join(names) for names in same]
    texts = [
        text if len(text) <= MODEL_WIDTH else copies_text(names[0], names)
        for text, names in zip(full, same, strict=True)
    ]
    firsts = firsts.with_columns(
        pl.Series("model", texts, dtype=pl.String),
        row_models=pl.Series(same, dtype=pl.List(pl.String)),
    )
    others = pl.col("row_models").list.len() - 1
    high = cs.by_name("query_rank_high", require_all=False) - others
    moved = pl.when(~IS_SETTLED).then(others).otherwise(0)
    return firsts.with_columns(high, cs.by_name("tie_rank_high", require_all=False) - moved)


def copies_text(label: str, row_models: Sequence[str]) -> str:
    """Return the label of a model, and what tells its copies from it.

    >>> copies_text("bm25…18", ["bm25-2019-06-18", "bm25-2019-06-28"])
    'bm25…18 = …28'
    """
    first, *copies = row_models
    unlike_first = [unlike(name, first) for name in copies[:MAX_COPIES]]
    rest = len(copies) - MAX_COPIES
    return EQUALS.join([label, *unlike_first, *([f"{rest} more"] if rest > 0 else [])])


def three_rows(three: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return the three scores of every model at one measure, best first, copies folded."""
    rows = with_copies_folded(three.filter(at_measure(*measure)))
    is_estimate = pl.col("tie_std").is_null() & pl.col("expected").is_not_null()
    estimates = pl.when(is_estimate).then(["expected"]).otherwise([]).alias("estimates")
    return rows.with_columns(*joined_texts(rows, "shuffled_range"), estimates)


def with_shown_ranks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows, with ranks only if there are two to compare."""
    return rows if rows["expected_rank"].count() > 1 else rows.drop(RANKS)


def without_draws(study: Study) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return ``three_scores`` and ``winners`` of a study as far as they are known before random
    orders are drawn, which takes long where very many items tie.
    """
    exact = study._undrawn
    return exact._ranked_scores, exact._winners


def are_drawn(study: Study) -> bool:
    """Return whether the random orders of a study are drawn already."""
    return study._data.memo.known(("drawn", study._view.draws, study.average))


def three_table(study: Study, most: int | None = None) -> str:
    """Return the three scores at the headline measure as text, below a sentence on who wins; empty
    of a single model whose scores tie order does not change. Of more rows than ``most`` the first
    are shown.

    >>> from retrieval_report import Study
    >>> tie = {"q": {"x": 1, "y": 1}}
    >>> lists = {"a": {"q": {"x": 2, "y": 1}}, "b": tie, "copy of b": tie}
    >>> study = Study(lists, "rr", judgements={"q": {"x": 1}}, truncated="no")
    >>> three_table(study, 1).splitlines()[-1]
    '… and 2 more models'
    """
    rows = three_rows(study.headline.three_scores, study.measures[0])
    table = [frame_table(with_shown_ranks(rows).head(most or rows.height), COLUMNS)]
    if most and rows.height > most:
        rest = int(rows[most:]["row_models"].list.len().sum())
        table.append(f"… and {with_number(rest, 'more model')}")
    winner = filter(None, [visible(_winner(study))])
    return "\n".join([*winner, *(table if is_moved(rows) else [])])


def _winner(study: Study) -> str:
    """Return the sentence on who wins by the headline measure; empty of a single model."""
    row = study.headline.winners.row(0, named=True)
    return winner_sentence(row, study.suspects) if len(study.model_names) > 1 else ""


def three_html(study: Study) -> str:
    """Return the same as HTML, with the picture of the three scores above the table; without the
    table where tie order changes nothing.
    """
    headline, measure = study.headline, study.measures[0]
    rows = three_rows(headline.three_scores, measure)
    ends = board(headline.summary).select("model", "ci_low", "ci_high")
    first = pl.col("row_models").list.first()
    name = measure_text(*measure)
    picture_rows = rows.join(
        ends, left_on=first, right_on="model", how="left", maintain_order="left"
    )
    picture = scores_picture(picture_rows, _strokes(study.at(name), rows), name)
    if not is_moved(rows):
        return picture
    winner = filter(None, [_winner(study)])
    return html_text(winner, picture, html_table(with_shown_ranks(rows), COLUMNS))


def _strokes(at_headline: Study, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the drawn means of the models whose score tie order moves."""
    moved = rows.filter(pl.col("tie_std") > LEVEL)["row_models"].list.first()
    means = at_headline._drawn_means
    return means.filter(pl.col("model").is_in(moved.implode())) if means.width else NO_STROKES


def is_moved(rows: pl.DataFrame) -> bool:
    """Return whether tie order changes any of these scores."""
    spread = pl.col("order_high") - pl.col("order_low")
    moved = pl.max_horizontal(pl.col("off_by").abs(), spread, "shuffled_std").max() > LEVEL
    return bool(rows.select(moved.fill_null(False)).item())


def by_items_retrieved(winners: Named) -> bool:
    """Return whether a row of ``winners`` is about the items in the lists alone: what these leave
    out could name another winner.
    """
    return winners.get("agreeing_method") == DRAWN


def share_of_orders(winners: Named) -> str:
    """Return the share of all orders in which an exact winner is among the first, and whether it is
    approximated; empty if it is not known.

    >>> share_of_orders({"agreeing_chance": 0.66, "agreeing_method": "normal"})
    '≈66%'
    """
    chance = winners["agreeing_chance"]
    share = "" if chance is None else whole_percent(chance)
    is_close = winners.get("agreeing_method") == NORMAL and share[0].isdigit()  # no bound
    return "≈" * is_close + share


def winner_sentence(row: Named, unranked: Sequence[str] = ()) -> str:
    """Say who wins by the exact, by the naive and by the drawn scores, ``unranked`` models aside.

    >>> row = {"metric": "ap", "cutoff": 5, "winner": "a", "naive_winner": "b", "orders": 10}
    >>> winner_sentence(
    ...     {**row, "agreeing": 6, "agreeing_chance": 0.66, "agreeing_method": "normal"}
    ... )
    'ap@5: a wins exactly, b by the naive order; a is first or level in 6 of 10 random orders
    (≈66% of all).'
    >>> winner_sentence({**row, "orders": 0, "agreeing": 0, "agreeing_chance": 0.66})
    'ap@5: a wins exactly, b by the naive order; a is first or level in 66% of all random
    orders.'
    >>> winner_sentence({**row, "naive_winner": "a", "agreeing": 10, "agreeing_chance": 1.0})
    'ap@5: a wins exactly and by the naive order; no order of ties puts another model ahead.'
    >>> winner_sentence({**row, "naive_winner": "a = c", "agreeing": 6, "agreeing_chance": 0.66})
    'ap@5: a wins exactly, and a and c share first place by the naive order; a is first or
    level in 6 of 10 random orders (66% of all).'
    >>> level = {**row, "winner": "a = b", "naive_winner": "a = b", "agreeing_chance": 1.0}
    >>> winner_sentence({**level, "agreeing": 10})
    'ap@5: a and b share first place exactly and by the naive order; no order of ties puts another
    model ahead.'
    >>> cut = {**level, "agreeing": 10, "agreeing_chance": None, "agreeing_method": "drawn"}
    >>> winner_sentence({**cut, "winner": "a", "naive_winner": "a"})
    'ap@5: a wins by the items in the lists, which may be cut, and by the naive order; a is first
    or level in 10 of 10 random orders of these items.'
    >>> winner_sentence({**row, "naive_winner": "a", "agreeing_chance": 1.0}, ["broken"])
    'ap@5 without broken: a wins exactly and by the naive order; no order of ties puts another model
    ahead.'
    """
    measure = measure_text(row["metric"], row["cutoff"])
    first, naive = row["winner"], row["naive_winner"]
    if first is None:
        return f"{measure}: no winner can be named."
    measure += f" without {first_names(unranked, MAX_MEASURES)}" if unranked else ""
    agree = naive in (first, None)
    wins = f"{listed(first.split(EQUALS))} {verb_of(first)}"
    is_cut = by_items_retrieved(row)
    if row["agreeing_chance"] == 1 and agree:
        order = " and by the naive order" if naive else ""
        return f"{measure}: {wins} exactly{order}; no order of ties puts another model ahead."
    order = f"{',' * is_cut} and by the naive order" if agree and naive else ""
    these = "one of them"
    if not agree:
        order = f",{' and' * is_cut} {naive} by the naive order"
        if EQUALS in naive:
            these = "one of the former"
            order = f", and {listed(naive.split(EQUALS))} share first place by the naive order"
    orders_text = f"{row['agreeing']} of {with_number(row['orders'], 'random order')}"
    share = share_of_orders(row)
    share_of_all = f" ({share} of all)" if share else ""
    if not row["orders"]:  # of another average no single order is known
        orders_text = f"{share or 'an unknown share'} of all random orders"
        share_of_all = ""
    is_first = f"{these if EQUALS in first else first} is first or level"
    exactly, of_these = "exactly", ""
    if is_cut:
        exactly, of_these = "by the items in the lists, which may be cut", " of these items"
    orders_text = f"{orders_text}{of_these}{share_of_all}"
    return f"{measure}: {wins} {exactly}{order}; {is_first} in {orders_text}."


def accidents_sentence(winners: pl.DataFrame, headline: Measure) -> str:
    """Say by which other measures and cutoffs the naive order names another winner, if by any.

    >>> names = {"winner": ["a", "a", "a"], "naive_winner": ["b", "b", "a"]}
    >>> winners = pl.DataFrame({"metric": ["ap"] * 3, "cutoff": [5, 10, 20], **names})
    >>> accidents_sentence(winners, ("ap", 5)), accidents_sentence(winners[[0, 2]], ("ap", 5))
    ('The naive order names another winner by ap@10, too.', '')

    Who shares first place by the naive order is no other winner.

    >>> accidents_sentence(winners.with_columns(naive_winner=pl.lit("a = b")), ("ap", 5))
    ''
    """
    exact, naive = (pl.col(name).str.split(EQUALS) for name in ("winner", "naive_winner"))
    rows = winners.filter(exact.list.set_intersection(naive).list.len() == 0)
    accidents = rows.select("metric", "cutoff").rows()
    names = [measure_text(*measure) for measure in accidents if measure != headline]
    too = ", too" if headline in accidents else ""
    by = first_names(names, MAX_MEASURES)
    return f"The naive order names another winner by {by}{too}." if names else ""


def verb_of(names: str) -> str:
    """Return what the winners do, of which there may be several.

    >>> verb_of("a"), verb_of("a = b")
    ('wins', 'share first place')
    """
    return "share first place" if EQUALS in names else "wins"
