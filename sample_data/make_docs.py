"""Make `sample_data/docs`: a text search with graded relevance, as TREC run and qrels files.

    python sample_data/make_docs.py [FOLDER]

The text is the docstrings of Python's own standard library, read from the source files of the
Python that runs this script. A query is the name of a function in words, such as "textwrap dedent".
The paragraphs after the first sentence of its docstring are documents, and so are those of other
functions, classes and modules. Embeddings are those of wordllama, which nothing else needs:
`pip install wordllama` into an environment that is thrown away. Only ids, grades and scores are
written.
"""

from __future__ import annotations

import ast
import gzip
import inspect
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import nearest_with_whole_ties, replaced_folder
from numpy.typing import NDArray

import retrieval_report as rr
from retrieval_report.codes.embeddings import BYTES
from retrieval_report.codes.formats import parse_format

Floats = NDArray[np.float64]

SEED = 0
QUERIES = 150
DEPTH = 20
FEWEST_WORDS = 4  # of a document
FEWEST_MATCHES = 10  # documents that share a word with a query
FORMATS = {
    "wordllama-float32": "float32",
    "wordllama-float16": "float16",
    "wordllama-bfloat16": "bfloat16",
    "wordllama-2-digits": "digits:2",
    "wordllama-int8": "int8",
    "wordllama-int4": "int4",
    "wordllama-binary-256": "binary",
    "wordllama-binary-128": "binary+truncate:128",
    "wordllama-binary-64": "binary+truncate:64",
    "wordllama-truncated-64": "truncate:64",
}
MODULES = """
    abc argparse ast base64 bdb bisect calendar cmd code codecs codeop configparser contextlib copy
    copyreg csv dataclasses datetime difflib dis doctest enum filecmp fileinput fnmatch fractions ftplib
    functools getopt getpass gettext glob graphlib gzip hashlib heapq hmac imaplib inspect ipaddress
    keyword linecache locale lzma mailbox mimetypes netrc numbers operator optparse os pathlib pdb pickle
    pickletools pkgutil platform plistlib poplib posixpath pprint profile pstats pty pyclbr queue quopri
    random reprlib rlcompleter runpy sched secrets selectors shelve shlex shutil smtplib socket
    socketserver ssl stat statistics string stringprep subprocess symtable tabnanny tarfile tempfile
    textwrap threading timeit token tokenize trace traceback tracemalloc types typing uuid warnings wave
    weakref webbrowser zipapp zipfile zipimport
""".split()  # noqa: SIM905 - a hundred quoted names would hide the list
STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can do does each for from has have if in into is it its may must no not
    of on one or other should so such than that the their then there these they this to was when where which
    will with
    """.split()  # noqa: SIM905 - as above
)


class Docstring(NamedTuple):
    """A docstring and where it stands; `name` is `module.Class.function`, `owner` its class, else
    module.
    """

    name: str
    module: str
    owner: str
    is_function: bool
    sentence: str
    paragraphs: list[str]


class Document(NamedTuple):
    """A passage to be found, with its words."""

    identifier: str
    source: Docstring
    text: str
    words: list[str]


class Query(NamedTuple):
    """A function to be found, and its name in words."""

    source: Docstring
    text: str
    words: list[str]


def split_docstring(text: str) -> tuple[str, list[str]]:
    """Return the first sentence and the paragraphs of the rest.

    >>> split_docstring("Close the file. Twice is fine.\\n\\nReturns nothing.")
    ('Close the file.', ['Twice is fine.', 'Returns nothing.'])
    """
    text = inspect.cleandoc(text).strip()
    end = re.search(r"\.(?=\s)|\n\s*\n|$", text)
    cut = end.end() if end else len(text)
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text[cut:].strip())]
    return text[:cut].strip(), [part for part in paragraphs if part]


def walk(node: ast.AST, module: str, name: str, owner: str) -> Iterator[Docstring]:
    """Yield the docstrings of the public classes and functions in a module or class body, in source
    order.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.If, ast.Try)):
            yield from walk(child, module, name, owner)
        if (
            not isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            or child.name[0] == "_"
        ):
            continue
        inner, is_class = f"{name}.{child.name}", isinstance(child, ast.ClassDef)
        if text := ast.get_docstring(child, clean=False):
            yield Docstring(
                inner, module, inner if is_class else owner, not is_class, *split_docstring(text)
            )
        if is_class:
            yield from walk(child, module, inner, inner)


def source_file(module: str) -> Path:
    """Return the file of a standard module; some became packages in later Pythons."""
    library = Path(sysconfig.get_path("stdlib"))
    file = library / f"{module}.py"
    return file if file.exists() else library / module / "__init__.py"


def read_docstrings() -> list[Docstring]:
    """Read every listed module's source; where a name is defined twice the first definition
    counts.
    """
    found: dict[str, Docstring] = {}
    for module in MODULES:
        tree = ast.parse(source_file(module).read_text(encoding="utf-8"))
        if text := ast.get_docstring(tree, clean=False):
            found[module] = Docstring(module, module, module, False, *split_docstring(text))
        for docstring in walk(tree, module, module, module):
            found.setdefault(docstring.name, docstring)
    return list(found.values())


def words_of(text: str) -> list[str]:
    """Return lower-case words of two or more letters or digits, without stop words.

    >>> words_of("Return the file's mode, or None.")
    ['return', 'file', 'mode', 'none']
    """
    return [word for word in re.findall(r"[a-z0-9]{2,}", text.lower()) if word not in STOP_WORDS]


def make_documents(docstrings: list[Docstring]) -> list[Document]:
    """Make every paragraph after the first sentence a document; a docstring of one sentence is one
    itself.
    """
    documents = []
    for docstring in docstrings:
        for number, text in enumerate(docstring.paragraphs or [docstring.sentence], start=1):
            words = words_of(text)
            if len(words) >= FEWEST_WORDS:
                documents.append(Document(f"{docstring.name}#{number}", docstring, text, words))
    return documents


def name_in_words(name: str) -> str:
    """Return a qualified name in words.

    >>> name_in_words("email.BytesParser.parse_bytes")
    'email Bytes Parser parse bytes'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[._]+", " ", name))


def draw_queries(docstrings: list[Docstring], documents: list[Document]) -> list[Query]:
    """Draw functions with documents of their own, and with a name of two words or more that are
    found in enough documents for a list of ten.
    """
    holders: dict[str, set[str]] = {}
    for document in documents:
        for word in document.words:
            holders.setdefault(word, set()).add(document.identifier)
    has_documents = {document.source.name for document in documents}
    able = []
    for docstring in docstrings:
        text = name_in_words(docstring.name)
        words = words_of(text)
        matches = set().union(*(holders.get(word, ()) for word in words))
        if (
            docstring.is_function
            and docstring.paragraphs
            and docstring.name in has_documents
            and len(set(words)) > 1
            and len(matches) >= FEWEST_MATCHES
        ):
            able.append(Query(docstring, text, words))
    random = np.random.RandomState(SEED)  # NumPy promises that this stream never changes
    drawn = random.choice(len(able), QUERIES, replace=False)
    return [able[position] for position in sorted(drawn)]


def grade(query: Docstring, source: Docstring) -> int:
    """3: the same function, 2: the same class, 1: the same module, 0: elsewhere."""
    if query.name == source.name:
        return 3
    if query.owner == source.owner and query.owner != query.module:
        return 2
    return int(query.module == source.module)


class Words(NamedTuple):
    """Word counts of queries and documents over the documents' vocabulary, and each word's
    rarity.
    """

    queries: Floats
    documents: Floats
    rarity: Floats


def count_words(queries: list[Query], documents: list[Document]) -> Words:
    """Count words; rarity is BM25's idf, log(1 + (N - n + 0.5) / (n + 0.5))."""
    vocabulary = sorted({word for document in documents for word in document.words})
    columns = {word: column for column, word in enumerate(vocabulary)}

    def counts(texts: Iterable[list[str]]) -> Floats:
        rows = []
        for words in texts:
            row = np.zeros(len(vocabulary))
            for word, count in Counter(words).items():
                if word in columns:
                    row[columns[word]] = count
            rows.append(row)
        return np.array(rows)

    of_documents = counts(document.words for document in documents)
    holding = (of_documents > 0).sum(axis=0)
    rarity = np.log1p((len(documents) - holding + 0.5) / (holding + 0.5))
    return Words(counts(query.words for query in queries), of_documents, rarity)


def term_overlap(words: Words) -> Floats:
    """Return the number of different query words in the document."""
    shared: Floats = (words.queries > 0).astype(float) @ (words.documents > 0).astype(float).T
    return shared


def bm25(words: Words, k1: float = 1.2, b: float = 0.75) -> Floats:
    """Return Okapi BM25 (Robertson & Zaragoza 2009), to 6 digits as most systems print it."""
    length = words.documents.sum(axis=1, keepdims=True)
    saturation = words.documents + k1 * (1 - b + b * length / length.mean())
    weights = words.rarity * words.documents * (k1 + 1) / saturation
    scores: Floats = np.round(words.queries @ weights.T, 6)
    return scores


Run = Iterator[tuple[str, str, float]]
"""Query, document and score, from the best document of every query down."""


def word_run(scores: Floats, queries: list[Query], documents: list[Document]) -> Run:
    """Yield the best documents of every query with a score above 0, the last tie whole."""
    for query, row in zip(queries, scores, strict=True):
        for position in nearest_with_whole_ties(-row, DEPTH):
            if row[position] > 0:
                yield query.source.name, documents[position].identifier, row[position]


def embedded(texts: list[list[str]]) -> list[NDArray[np.float32]]:
    """Return wordllama's embeddings of 256 dimensions, from the weights in its wheel."""
    import wordllama

    # It looks for its tokenizer in a folder of another name, unless it is told where that is.
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return [model.embed(some) for some in texts]


def embedding_runs(queries: list[Query], documents: list[Document]) -> Iterator[tuple[str, Run]]:
    """Yield the runs of all formats; scores of binary vectors are the bits that are equal."""
    vectors = embedded([[one.text for one in some] for some in (queries, documents)])
    for name, text in FORMATS.items():
        found = rr.from_embeddings(
            *vectors,
            {name: text},
            depth=DEPTH,
            query_ids=[query.source.name for query in queries],
            item_ids=[document.identifier for document in documents],
        )
        rows = found.rankings
        if "distance" in rows.columns:
            bits = 8 * found.costs["bytes per vector"].item()
            rows = rows.with_columns(score=bits - rows["distance"])
        yield name, rows.select("query", "item", "score").iter_rows()


def run_lines(model: str, run: Run) -> Iterator[str]:
    """Yield the lines of a TREC run."""
    rank, last = 0, ""
    is_single = FORMATS.get(model) in ("float32", "int8", "int4", "truncate:64")
    for query, document, score in run:
        rank, last = (rank + 1 if query == last else 1), query
        # The fewest digits that tell it from every other score of its type.
        text = np.format_float_positional(np.float32(score) if is_single else score, trim="-")
        yield f"{query} Q0 {document} {rank} {text} {model}\n"


def qrels_lines(queries: list[Query], documents: list[Document]) -> Iterator[str]:
    """Yield a TREC judgement for every pair with a grade above 0."""
    for query in queries:
        for document in documents:
            if relevance := grade(query.source, document.source):
                yield f"{query.source.name} 0 {document.identifier} {relevance}\n"


def write_text(path: Path, lines: Iterable[str]) -> None:
    """Write UTF-8 with plain line ends; gzipped without name or time inside, so that the bytes
    repeat.
    """
    content = "".join(lines).encode()
    path.write_bytes(
        gzip.compress(content, compresslevel=9, mtime=0) if path.suffix == ".gz" else content
    )


def make_docs(folder: Path) -> None:
    """Write `runs/<model>.run.gz`, `qrels.txt`, `queries.csv` and `costs.csv` into `folder`,
    replacing what is there.
    """
    docstrings = read_docstrings()
    documents = make_documents(docstrings)
    queries = draw_queries(docstrings, documents)
    words = count_words(queries, documents)
    print(f"{len(documents)} documents, {len(queries)} queries, {words.rarity.size} words")
    runs = dict(embedding_runs(queries, documents))
    runs["bm25"] = word_run(bm25(words), queries, documents)
    runs["term-overlap"] = word_run(term_overlap(words), queries, documents)
    sources = [query.source for query in queries]
    with replaced_folder(folder) as new:
        (new / "runs").mkdir()
        for model, run in runs.items():
            write_text(new / "runs" / f"{model}.run.gz", run_lines(model, run))
        write_text(new / "qrels.txt", qrels_lines(queries, documents))
        labels = (f"{source.name},{source.module}\n" for source in sources)
        write_text(new / "queries.csv", ["query,label\n", *labels])
        costs = (f"{name},{parse_format(text).bytes_of(256)}\n" for name, text in FORMATS.items())
        write_text(new / "costs.csv", [f"model,{BYTES}\n", *costs])


if __name__ == "__main__":
    make_docs(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "docs")
