"""The page on nearest neighbours: which labels they give to the queries."""

import streamlit as st

from cached import ask
from page import Page
from retrieval_report.study.questions import CUT_VOTES
from retrieval_report.study.tables import confused
from tables import frame_table
from url_controls import choose_number, choose_one

CONFUSED = "label predicted value tie_std lowest highest"
CLASSES = "label metric value tie_std lowest highest"


def show(page: Page) -> None:
    """Draw the page."""
    k = choose_number("Items that vote", name="k", low=1, default=page.data.source.also["k"] or 1)
    ask(page.data, k=k)
    votes = page.study.using(k=k).nearest
    assert votes is not None  # the labels are known
    ranked = votes.accuracy.sort("value", descending=True, maintain_order=True)
    frame_table(ranked, of="knn_accuracy", alt="Share of the queries that get their label.")
    st.caption(CUT_VOTES)
    st.header("One model")
    model = choose_one("Model", page.ranked_runs, name="classifier")
    cells = votes.confusion.filter(model=model)
    st.caption("Rows: the label of the queries; columns: what is predicted, mean over tie orders.")
    matrix = cells.pivot("predicted", index="label", values="value", sort_columns=True)
    frame_table(matrix.fill_null(0), alt="Queries by own and predicted label.")
    frame_table(confused(cells), of="knn_confusion", show=CONFUSED)
    frame_table(votes.classes.filter(model=model), of="knn_classes", show=CLASSES)
