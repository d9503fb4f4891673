"""Write files whole or not at all, and CSV whose text no spreadsheet takes for formulas."""

import io
import os
import secrets
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import check_path
from retrieval_report.contracts.errors import OutputError
from retrieval_report.writing.temporary import PREFIX, SUFFIX, temporary_folder

# What spreadsheets read as the start of a formula, those of East Asia also in full width, or strip
# before looking for one (CWE-1236); also after apostrophes, so that one can be removed again.
FORMULA_START = r"^'*(?:[\t\r\n\x00]|[\s\x00\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫])"


def csv_bytes(frame: pl.DataFrame, *, raw: bool = False) -> bytes:
    r"""Return a frame as UTF-8 CSV; numbers keep every digit, and null is an empty cell.

    Parameters
    ----------
    frame
        Any frame of numbers, booleans and text.
    raw
        Leave text as it is. By default a text cell that starts with ``=``, ``+``, ``-`` or ``@``
        (also after blanks), or with a tab, a line break or NUL, gets a leading
        ``'``, so that a spreadsheet shows it instead of running it.

    Examples
    --------
    >>> frame = pl.DataFrame({"model": ["=HYPERLINK(1)", "itq-32"], "value": [0.1, -0.5]})
    >>> csv_bytes(frame).decode().splitlines()
    ['model,value', "'=HYPERLINK(1),0.1", 'itq-32,-0.5']
    >>> csv_bytes(frame, raw=True).decode().splitlines()[1]
    '=HYPERLINK(1),0.1'
    """
    if not raw:
        text = pl.col(pl.String)
        frame = frame.with_columns(
            pl.when(text.str.contains(FORMULA_START)).then("'" + text).otherwise(text).name.keep()
        )
    buffer = io.BytesIO()
    frame.write_csv(buffer)
    return buffer.getvalue()


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """Return a frame as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def check_writable_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder as a path if files can be
    written to it; call this before a long computation.

    A folder that does not exist yet is fine if its parent exists and is writable; it is created
    later.

    Raises
    ------
    OutputError
        The path is a file, is too long, its parent is missing, or writing there is not permitted.
    """
    path = check_path("folder", folder)
    try:
        # Permission bits do not show read-only mounts and full quotas, so try.
        probe = path / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}" if path.is_dir() else path
        try:
            probe.mkdir()
        finally:
            with suppress(OSError, ValueError):
                probe.rmdir()
    except (OSError, ValueError) as error:
        raise _output_error(path, error) from error
    return path


def refuse_inputs(outputs: Iterable[Path], read: Iterable[Path], hint: str = "") -> None:
    """Raise an OutputError if a file to be written is one of those to be read."""
    targets = {path.resolve() for path in outputs}
    for path in read:
        if path.resolve() in targets:
            raise OutputError(f"cannot write to '{path}': it is one of the files to be read{hint}")


def write_files(contents: Mapping[Path, bytes | Path], gone: Collection[Path] = ()) -> None:
    """Write files that belong together, all of them or none.

    All contents reach the disk in temporary folders (``.retrieval-report-….tmp``) beside their
    targets before the first target is replaced, and then the targets are replaced one after the
    other, in the order given. Any error, a full disk or an interrupt before that leaves the old
    files as they were and removes the temporary ones. Missing folders are created. A link stays,
    and what it points to is replaced.

    Parameters
    ----------
    contents
        For each target its bytes, or a finished file on the same file system, which is moved there.
    gone
        Files that are removed at the same time, if they exist.

    Raises
    ------
    OutputError
        A file cannot be written, or is a folder, a device or a pipe; the message names its path.
    """
    targets = {path: regular_file(path) for path in contents}
    path = Path()
    with ExitStack() as stack:
        ready = {}
        try:
            for path, target in targets.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                ready[target] = stack.enter_context(temporary_folder(target.parent)) / target.name
                _to_disk(ready[target], contents[path])
            for target, file in ready.items():
                os.replace(file, target)  # noqa: PTH105 - Path.replace hides the atomic step
            for path in gone:
                path.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            raise _output_error(path, error) from error


def regular_file(path: Path) -> Path:
    """Return the file that a path leads to; raise an OutputError
    if something else is there, which nobody replaces.

    >>> regular_file(Path(os.devnull))
    Traceback (most recent call last):
    retrieval_report.OutputError: cannot write to '/dev/null': it is not a regular file
    """
    try:
        target = Path(os.path.realpath(check_path("path", path)))
    except (OSError, ValueError) as error:
        raise _output_error(path, error) from error
    if target.exists() and not target.is_file():
        raise OutputError(
            f"cannot write to '{path}': it is "
            f"{'a folder' if target.is_dir() else 'not a regular file'}"
        )
    return target


def _to_disk(path: Path, data: bytes | Path) -> None:
    if isinstance(data, Path):
        data.replace(path)
        return
    # Mode "x" refuses an existing name, and unlike tempfile it leaves the permissions to the user's
    # umask.
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _output_error(path: Path, error: Exception) -> OutputError:
    reason = getattr(error, "strerror", None) or str(error)
    is_lacking = isinstance(error, FileNotFoundError) and not path.parent.exists()
    cure = f"; make '{path.parent}' first" if is_lacking else ""
    return OutputError(f"cannot write to '{path}': {reason}{cure}")
