"""The callbacks of the page on training, run by the frameworks they are for (`make callbacks`)."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_report as rr

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "while-training.md"
BLOCK = re.compile(r":::\{tab-item\} (\S+)\n```python\n(.*?)```", re.DOTALL)
# They warn of each other and of Python; what our own code warns of is an error elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("KERAS_BACKEND", "torch")


def ask(module: str, package: str) -> Any:
    reason = f"{package}, of the extra `training`, is not installed"
    return pytest.importorskip(module, reason=reason)


def from_page(framework: str, name: str, **known: Any) -> Any:
    code = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))[framework]
    assert len(code.splitlines()) <= 15
    space = {"rr": rr, "np": np, "functools": functools, **known}
    exec(code, space)
    return space[name]


def ndcg(scores: Any, relevance: Any, masks: Any = None) -> float:
    meter = rr.Meter("ndcg@10")
    meter.update(scores, relevance, masks=masks)
    return float(meter.compute()["value"].item())


def made(queries: int, items: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(queries, 8)).astype("float32")
    relevance = (rng.random((queries, items)) < 0.3).astype("float32")
    return inputs, relevance, rng.random((queries, items)) < 0.9


def test_keras_logs_the_metric_of_every_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    ask("torch", "torch")
    keras = ask("keras", "keras")
    log = from_page("Keras", "RetrievalLog", keras=keras)
    inputs, relevance, _ = made(40, 20)
    model = keras.Sequential([keras.layers.Dense(20)])
    model.compile("adam", "binary_crossentropy")
    history = model.fit(inputs, relevance, epochs=3, verbose=0, callbacks=[log(inputs, relevance)])
    logged = history.history["val_ndcg"]
    assert len(logged) == len(history.history["val_ndcg_tie_std"]) == 3
    assert logged[-1] == ndcg(model.predict(inputs, verbose=0), relevance)
    assert len(capsys.readouterr().out.splitlines()) == 2  # verdicts


def test_lightning_logs_the_metric_of_all_batches() -> None:
    lightning, torch = ask("lightning", "lightning"), ask("torch", "torch")
    ranker: Any = from_page("Lightning", "Ranker", lightning=lightning, torch=torch)
    loss = torch.nn.functional.binary_cross_entropy_with_logits

    def start(self: Any) -> None:
        ranker.__init__(self)
        self.net = torch.nn.Linear(8, 20)

    methods = {
        "__init__": start,
        "forward": lambda self, inputs: self.net(inputs),
        "training_step": lambda self, batch, index: loss(self(batch["inputs"]), batch["relevance"]),
        "configure_optimizers": lambda self: torch.optim.SGD(self.parameters(), lr=0.0),
    }
    model = type("Model", (ranker,), methods)()
    inputs, relevance, masks = (torch.from_numpy(array) for array in made(40, 20))
    rows = [
        {"inputs": a, "relevance": b, "mask": c}
        for a, b, c in zip(inputs, relevance, masks, strict=True)
    ]
    loader = torch.utils.data.DataLoader(rows, batch_size=16)
    quiet = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", **dict.fromkeys(quiet, False))
    trainer.fit(model, loader, loader)
    expected = ndcg(model(inputs).detach(), relevance, masks)
    assert trainer.callback_metrics["val_ndcg"].item() == pytest.approx(expected, rel=1e-6)


def test_the_trainer_of_transformers_logs_the_metric(tmp_path: Path) -> None:
    torch, transformers = ask("torch", "torch"), ask("transformers", "transformers")
    ask("accelerate", "accelerate")
    compute = from_page("Transformers", "compute_metrics")

    def forward(self: Any, inputs: Any, labels: Any) -> Any:
        scores, kept = self.net(inputs), labels != -100
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        return {"loss": loss(scores[kept], labels[kept].float()), "logits": scores}

    model = type("Model", (torch.nn.Module,), {"forward": forward})()
    model.net = torch.nn.Linear(8, 20)
    inputs, relevance, masks = made(40, 20)
    labels = np.where(masks, relevance, -100).astype(int)
    rows = [{"inputs": a, "labels": b} for a, b in zip(inputs, labels, strict=True)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=2, eval_strategy="epoch", report_to=[],
        use_cpu=True, save_strategy="no", logging_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model, arguments, train_dataset=rows, eval_dataset=rows, compute_metrics=compute
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "eval_ndcg" in entry]
    expected = ndcg(model.net(torch.from_numpy(inputs)).detach(), relevance, masks)
    assert len(logged) == 2
    assert logged[-1]["eval_ndcg"] == pytest.approx(expected, rel=1e-6)


def test_sentence_transformers_evaluates_a_model() -> None:
    theirs = ask("sentence_transformers", "sentence-transformers")
    part = "sentence_transformers.sentence_transformer"
    evaluation = ask(f"{part}.evaluation", "sentence-transformers 6")
    modules = ask(f"{part}.modules", "sentence-transformers 6")
    base = evaluation.SentenceEvaluator
    evaluator = from_page("sentence-transformers", "ExactNDCG", SentenceEvaluator=base)
    words = modules.BoW(vocab=["red", "blue", "cat", "dog", "runs", "sleeps"])
    model = theirs.SentenceTransformer(modules=[words], device="cpu")
    documents = ["red cat runs", "blue dog sleeps", "red dog", "cat sleeps"]
    found = evaluator(["cat", "dog"], documents, np.array([[1, 0, 0, 0], [0, 1, 0, 0]]))(model)
    # The shorter document is nearer: the relevant one is second.
    assert found == {"ndcg": pytest.approx(1 / np.log2(3))}
