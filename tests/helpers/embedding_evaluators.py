"""Run the evaluators of people who embed on runs, as their users do, and return what they print.

Each function imports its system, so that who lacks it loses that system's tests alone.
"""

import warnings
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl

Printed = dict[str, float]
Run = dict[str, dict[str, float]]
Judged = dict[str, dict[str, int]]


def mteb(run: Run, qrels: Judged, cutoffs: list[int]) -> Printed:
    """What a retrieval task of MTEB prints; every query has results there, maybe none."""
    from mteb._evaluators import retrieval_metrics as theirs

    results = {query: run.get(query, {}) for query in qrels}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nAUC of constant scores
        scores = theirs.calculate_retrieval_scores(results, qrels, cutoffs)
    parts = {
        "ndcg": scores.ndcg,
        "map": scores.map,
        "recall": scores.recall,
        "precision": scores.precision,
        "mrr": scores.mrr,
        "hit_rate": scores.hit_rate,
    }
    printed = {
        f"{name}_at_k@{key.split('@')[1]}": value
        for name, part in parts.items()
        for key, value in part.items()
    }
    for key, values in theirs.recall_cap(qrels, results, cutoffs).items():
        known = [value for value in values if value is not None]
        printed[f"R_cap_at_k@{key.rsplit('_', 1)[1]}"] = float(np.mean(known))
    return printed


def beir(run: Run, qrels: Judged, cutoffs: list[int]) -> Printed:
    """What BEIR prints: `evaluate`, then `evaluate_custom` on the same results, as its examples do;
    capped recall is missing where it raises an error.
    """
    from beir.retrieval.evaluation import EvaluateRetrieval

    results = {query: dict(items) for query, items in run.items()}
    found: Printed = {}
    for part in EvaluateRetrieval.evaluate(qrels, results, cutoffs):
        found |= part
    for name in ("mrr", "accuracy", "recall_cap"):
        try:
            found |= EvaluateRetrieval.evaluate_custom(qrels, results, cutoffs, name)
        except ZeroDivisionError:
            assert name == "recall_cap"
    return {key.replace("@", "@k@"): value for key, value in found.items()}


class Table:
    """A model whose similarities are those of a table: texts are rows and columns of it."""

    def __init__(self, scores: Any) -> None:
        import torch

        self.scores = torch.as_tensor(scores)
        self.model_card_data = Mock()  # where an evaluator notes what it printed

    def encode(self, texts: list[str], **_: Any) -> Any:
        """Return the positions of texts as their embeddings."""
        import torch

        return torch.tensor([[float(text)] for text in texts], dtype=torch.float64)

    encode_query = encode_document = encode

    def similarity(self, queries: Any, documents: Any) -> Any:
        """Return the scores of all pairs."""
        rows, columns = (part.reshape(-1).long() for part in (queries, documents))
        return self.scores[rows][:, columns]

    def predict(self, pairs: list[list[str]], **_: Any) -> Any:
        """Return the scores of pairs, as a cross-encoder does."""
        found = [float(self.scores[int(query), int(text)]) for query, text in pairs]
        return np.array(found, dtype=np.float32)


def information_retrieval(
    scores: Any, queries: list[str], items: list[str], qrels: Judged, cutoffs: list[int]
) -> Printed:
    """What the InformationRetrievalEvaluator prints of the scores of all queries and items, which
    it searches in chunks of seven.
    """
    from sentence_transformers.sentence_transformer import evaluation

    model = Table(scores)
    evaluator = evaluation.InformationRetrievalEvaluator(
        {query: str(row) for row, query in enumerate(queries)},
        {item: str(column) for column, item in enumerate(items)},
        {query: {item for item, grade in of.items() if grade > 0} for query, of in qrels.items()},
        corpus_chunk_size=7,
        mrr_at_k=cutoffs,
        ndcg_at_k=cutoffs,
        accuracy_at_k=cutoffs,
        precision_recall_at_k=cutoffs,
        map_at_k=cutoffs,
        score_functions={"table": model.similarity},
        write_csv=False,
    )
    return {
        key.removeprefix("table_").replace("@", "@k@"): float(value)
        for key, value in evaluator(model).items()
    }


def reranking(frame: pl.DataFrame, at_k: int, cross_encoder: bool = False) -> Printed:
    """What the RerankingEvaluator or that of cross-encoders prints of lists with relevances."""
    if cross_encoder:
        from sentence_transformers.cross_encoder.evaluation import (
            CrossEncoderRerankingEvaluator as Evaluator,
        )
    else:
        from sentence_transformers.sentence_transformer.evaluation import (
            RerankingEvaluator as Evaluator,
        )
    lists = frame.partition_by("query", maintain_order=True)
    scores = np.zeros((len(lists), frame.height), np.float32)
    samples, start = [], 0
    for row, part in enumerate(lists):
        scores[row, start : start + part.height] = part["score"]
        names = [str(start + place) for place in range(part.height)]
        relevant = (part["relevance"] > 0).to_list()
        samples.append(
            {
                "query": str(row),
                "positive": [name for name, hit in zip(names, relevant, strict=True) if hit],
                "negative": [name for name, hit in zip(names, relevant, strict=True) if not hit],
            }
        )
        start += part.height
    model = Table(scores)
    options: Any = {} if cross_encoder else {"similarity_fct": model.similarity}
    found = Evaluator(samples, at_k=at_k, write_csv=False, **options)(model)
    return {key.replace("@", "@k@"): float(value) for key, value in found.items()}


def graphs(scores: Any, cutoffs: list[int]) -> dict[str, Printed]:
    """What PyKEEN, OGB and TGB print where the first item of every row is the true one."""
    import torch
    from ogb.linkproppred import Evaluator as OGB
    from pykeen.evaluation.ranks import Ranks
    from pykeen.metrics.ranking import HitsAtK, InverseHarmonicMeanRank
    from tgb.linkproppred.evaluate import Evaluator as TGB

    found = torch.as_tensor(scores)
    ranks = Ranks.from_scores(found[:, :1], found).realistic.numpy()
    pykeen = {"inverse_harmonic_mean_rank": float(InverseHarmonicMeanRank()(ranks))}
    pykeen |= {f"hits_at_k@{k}": float(HitsAtK(k)(ranks)) for k in cutoffs}
    parts = {"y_pred_pos": scores[:, 0], "y_pred_neg": scores[:, 1:]}
    # OGB 1.3.6 cannot rank NumPy arrays
    tensors = {name: torch.as_tensor(part) for name, part in parts.items()}
    of_ogb = OGB("ogbl-wikikg2").eval(tensors)
    ogb = {"mrr_list": float(of_ogb["mrr_list"].mean())}
    ogb |= {f"hits@k_list@{k}": float(of_ogb[f"hits@{k}_list"].mean()) for k in cutoffs}
    tgb: Printed = {}
    for k in cutoffs:
        of_tgb = TGB("tgbl-wiki", k_value=k).eval({**parts, "eval_metric": ["mrr"]})
        tgb |= {"mrr": float(of_tgb["mrr"]), f"hits@k@{k}": float(of_tgb[f"hits@{k}"])}
    return {"PyKEEN": pykeen, "OGB": ogb, "TGB": tgb}


def saved(run: Run, folder: Path) -> dict[str, Path]:
    """Let mteb, BEIR and sentence-transformers save a run, and return where each did."""
    from beir.util import save_runfile
    from mteb.abstasks.abstask import AbsTask
    from sentence_transformers.sentence_transformer import evaluation

    task = Mock(_predictions_path=lambda of: of / "Hand_predictions.json")
    model = Mock(mteb_model_meta=Mock(revision="1"))
    model.mteb_model_meta.name = "org/model"
    AbsTask._save_task_predictions(task, run, model, folder, "test", "default")
    save_runfile(str(folder / "beir.run"), run, run_name="mine")
    items = sorted({item for of in run.values() for item in of})
    table = [[of.get(item, -1.0) for item in items] for of in run.values()]
    shown = Table(np.array(table))
    evaluator = evaluation.InformationRetrievalEvaluator(
        {query: str(row) for row, query in enumerate(run)},
        {item: str(column) for column, item in enumerate(items)},
        {query: {items[0]} for query in run},
        score_functions={"table": shown.similarity},
        write_predictions=True,
        name="hand",
    )
    evaluator(shown, output_path=str(folder))
    [predictions] = folder.glob("*.jsonl")
    return {
        "mteb": folder / "Hand_predictions.json",
        "beir": folder / "beir.run",
        "sentence-transformers": predictions,
    }
