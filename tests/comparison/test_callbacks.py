"""The callbacks of the page on training, called as the frameworks that they are for call them."""

import functools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrieval_report as rr

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "while-training.md"
BLOCK = re.compile(r":::\{tab-item\} \S+\n```python\n(.*?)```", re.DOTALL)


class Module:
    """A model whose output is its input, as far as the callbacks ask for it."""

    trainer = SimpleNamespace(world_size=1)

    def __call__(self, inputs: Any):
        return inputs

    def predict(self, inputs: Any, verbose: int):
        return inputs

    def encode(self, texts: Any):
        return texts

    def similarity(self, queries: Any, documents: Any):
        return queries


def test_every_callback_logs_the_exact_metric_of_all_batches(
    capsys: pytest.CaptureFixture[str],
):
    rng = np.random.default_rng(0)
    scores, relevance, masks = rng.integers(0, (5, 2, 2), (40, 20, 3)).transpose(2, 0, 1)

    def exact(masks: Any = None):
        meter = rr.Meter("ndcg@10")
        meter.update(scores, relevance, masks=masks)
        return meter.compute()["value"].item()

    page: Any = {
        "rr": rr,
        "np": np,
        "functools": functools,
        "SentenceEvaluator": object,
        "keras": SimpleNamespace(callbacks=SimpleNamespace(Callback=object)),
        "lightning": SimpleNamespace(LightningModule=Module),
    }
    for code in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        exec(code, page)

    logs: Any = {}
    keras = page["RetrievalLog"](scores, relevance)
    keras.model = Module()
    for epoch in range(3):
        keras.on_epoch_end(epoch, logs)
    assert (logs["val_ndcg"], logs["val_ndcg_tie_std"] > 0) == (exact(), True)
    assert len(capsys.readouterr().out.splitlines()) == 2  # verdicts

    ranker = page["Ranker"]()
    ranker.log = logs.__setitem__
    ranker.on_validation_epoch_start()
    for rows in (slice(0, 16), slice(16, 40)):
        batch = {"inputs": scores[rows], "relevance": relevance[rows], "mask": masks[rows] > 0}
        ranker.validation_step(batch, 0)
    ranker.on_validation_epoch_end()
    assert logs["val_ndcg"] == exact(masks > 0)

    labels = np.where(masks > 0, relevance, -100)
    prediction = SimpleNamespace(predictions=scores, label_ids=labels)
    assert page["compute_metrics"](prediction)["ndcg"] == exact(masks > 0)

    assert page["ExactNDCG"](scores, [], relevance)(Module()) == {"ndcg": exact()}
