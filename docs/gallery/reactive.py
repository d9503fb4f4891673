"""A reactive notebook: choose models and a measure, and every cell below updates immediately.

Open it with ``marimo edit docs/gallery/reactive.py``, or serve it with ``marimo run``. It needs no
network.
"""

import marimo

__generated_with = "0.25.2"

app = marimo.App(width="medium", app_title="Which digits model, by which measure?")


@app.cell
def imports():
    import altair as alt
    import marimo as mo

    import retrieval_report as rr
    from retrieval_report.study.samples import sample_folder

    alt.renderers.enable("svg")
    return mo, rr, sample_folder


@app.cell
def data(rr, sample_folder):
    digits = sample_folder() / "digits"
    study = rr.Study(
        rr.read_rankings(digits / "rankings.parquet"),
        "precision@10, ndcg@10, precision@1",
        queries=rr.read_queries(digits / "queries.parquet"),
        truncated="between_ties",
    )
    return (study,)


@app.cell
def controls(mo, study):
    models = mo.ui.multiselect(
        study.model_names, value=["itq-16", "cosine-1-digit", "lsh-64"], label="models"
    )
    measure = mo.ui.dropdown(
        ["precision@10", "ndcg@10", "precision@1"], value="precision@10", label="measure"
    )
    mo.hstack([models, measure], justify="start")
    return measure, models


@app.cell
def narrowed(measure, mo, models, study):
    mo.stop(len(models.value) < 2, mo.md("Choose at least two models."))
    chosen = study.models(*models.value).at(measure.value)
    return (chosen,)


@app.cell
def verdict(chosen, mo):
    mo.md("\n\n".join(chosen.verdict))
    return


@app.cell
def picture(chosen):
    chosen.plot.scores()
    return


@app.cell
def ties(chosen):
    chosen.comparison.filter(policy="expected").select(
        "model_a", "model_b", "difference", "family_p", "p_tie"
    )
    return


if __name__ == "__main__":
    app.run()
