"""Make `sample_data/docs`: a text search with graded relevance, as TREC run and qrels files.

    python sample_data/make_docs.py [FOLDER]

The text is the docstrings of Python's own standard library, read from the source files of the
Python that runs this script. The first sentence of a function's docstring is the query; the
paragraphs after it are documents, and so are those of other functions, classes and modules. Only
ids, grades and scores are written.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import inspect
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import nearest_with_whole_ties, replaced_folder, round_to_bfloat16
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

Floats = NDArray[np.float64]

SEED = 0
QUERIES = 150
DEPTH = 50
FEWEST_WORDS = 4
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
                documents.append(Document(f"{docstring.name}#{number}", docstring, words))
    return documents


def draw_queries(docstrings: list[Docstring], documents: list[Document]) -> list[Docstring]:
    """Draw functions whose docstring goes on after a first sentence of enough words."""
    has_documents = {document.source.name for document in documents}
    able = [
        docstring
        for docstring in docstrings
        if docstring.is_function
        and docstring.paragraphs
        and docstring.name in has_documents
        and len(set(words_of(docstring.sentence))) >= FEWEST_WORDS
    ]
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

    vocabulary: list[str]
    queries: Floats
    documents: Floats
    rarity: Floats


def count_words(queries: list[Docstring], documents: list[Document]) -> Words:
    """Count words; rarity is BM25's idf, log(1 + (N - n + 0.5) / (n + 0.5))."""
    vocabulary = sorted({word for document in documents for word in document.words})
    place = {word: column for column, word in enumerate(vocabulary)}

    def counts(texts: list[list[str]]) -> Floats:
        table = np.zeros((len(texts), len(vocabulary)))
        for row, words in enumerate(texts):
            for word, count in Counter(words).items():
                if word in place:
                    table[row, place[word]] = count
        return table

    document_counts = counts([document.words for document in documents])
    holding = (document_counts > 0).sum(axis=0)
    rarity = np.log1p((len(documents) - holding + 0.5) / (holding + 0.5))
    return Words(
        vocabulary, counts([words_of(query.sentence) for query in queries]), document_counts, rarity
    )


def unit(vectors: Floats) -> Floats:
    """Scale every row to length 1; rows of zeros stay."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def tf_idf(words: Words) -> tuple[Floats, Floats]:
    """Return unit vectors of log(1 + count) * rarity for queries and documents."""
    return (
        unit(np.log1p(words.queries) * words.rarity),
        unit(np.log1p(words.documents) * words.rarity),
    )


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


def tf_idf_cosine(words: Words) -> Floats:
    """Return the cosine of tf-idf vectors, to 6 digits."""
    queries, documents = tf_idf(words)
    scores: Floats = np.round(queries @ documents.T, 6)
    return scores


def lsa_bfloat16(words: Words, dimensions: int = 64) -> Floats:
    """Return the cosine in the space of the main singular vectors, stored and summed up as
    bfloat16.
    """
    queries, documents = tf_idf(words)
    _, _, axes = svds(csr_array(documents), k=dimensions, v0=np.ones(min(documents.shape)))
    query_vectors = round_to_bfloat16(unit(queries @ axes.T)).astype(float)
    document_vectors = round_to_bfloat16(unit(documents @ axes.T)).astype(float)
    return round_to_bfloat16(query_vectors @ document_vectors.T).astype(float)


def simhash_64(words: Words) -> Floats:
    """Return 64 minus the Hamming distance of 64-bit simhashes (Charikar 2002) of the tf-idf
    vectors.
    """
    hashes = [hashlib.blake2b(word.encode(), digest_size=8).digest() for word in words.vocabulary]
    signs = (
        np.unpackbits(np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, 8), axis=1) * 2.0 - 1.0
    )
    queries, documents = (np.where(vectors @ signs >= 0, 1.0, -1.0) for vectors in tf_idf(words))
    return (64 + queries @ documents.T) / 2


MODELS: dict[str, Callable[[Words], Floats]] = {
    "bm25": bm25,
    "bm25-1-digit": lambda words: np.round(bm25(words), 1),
    "lsa-bfloat16": lsa_bfloat16,
    "simhash-64": simhash_64,
    "term-overlap": term_overlap,
    "tf-idf": tf_idf_cosine,
}


def run_lines(
    model: str, scores: Floats, queries: list[Docstring], documents: list[Document]
) -> Iterator[str]:
    """Yield a TREC run: the best documents of every query with a score above 0, the last tie
    whole.
    """
    for query, row in zip(queries, scores, strict=True):
        for rank, position in enumerate(nearest_with_whole_ties(-row, DEPTH), start=1):
            if row[position] > 0:
                score = np.format_float_positional(row[position], trim="-")
                yield f"{query.name} Q0 {documents[position].identifier} {rank} {score} {model}\n"


def qrels_lines(queries: list[Docstring], documents: list[Document]) -> Iterator[str]:
    """Yield a TREC judgement for every pair with a grade above 0."""
    for query in queries:
        for document in documents:
            if relevance := grade(query, document.source):
                yield f"{query.name} 0 {document.identifier} {relevance}\n"


def write_text(path: Path, lines: Iterable[str]) -> None:
    """Write UTF-8 with plain line ends; gzipped without name or time inside, so that the bytes
    repeat.
    """
    content = "".join(lines).encode()
    path.write_bytes(
        gzip.compress(content, compresslevel=9, mtime=0) if path.suffix == ".gz" else content
    )


def make_docs(folder: Path) -> None:
    """Write `runs/<model>.run.gz`, `qrels.txt` and `queries.csv` into `folder`, replacing what is
    there.
    """
    docstrings = read_docstrings()
    documents = make_documents(docstrings)
    queries = draw_queries(docstrings, documents)
    words = count_words(queries, documents)
    print(f"{len(documents)} documents, {len(queries)} queries, {len(words.vocabulary)} words")
    with replaced_folder(folder) as new:
        (new / "runs").mkdir()
        for model, score in MODELS.items():
            lines = run_lines(model, score(words), queries, documents)
            write_text(new / "runs" / f"{model}.run.gz", lines)
        write_text(new / "qrels.txt", qrels_lines(queries, documents))
        write_text(
            new / "queries.csv",
            ["query,label\n", *(f"{query.name},{query.module}\n" for query in queries)],
        )


if __name__ == "__main__":
    make_docs(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "docs")
