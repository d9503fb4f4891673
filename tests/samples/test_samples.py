from pathlib import Path

import pytest

from retrieval_report.contracts.errors import FileError
from retrieval_report.study.samples import SAMPLES, sample_folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder that stands for the installed package."""
    folder = tmp_path / "retrieval_report"
    folder.mkdir()
    monkeypatch.setattr("retrieval_report.study.samples.resources.files", lambda _name: folder)
    return folder


def test_the_samples_lie_inside_an_installed_package_or_beside_it_in_the_repository(
    package: Path,
):
    beside, inside = package.parent / "sample_data", package / "_sample_data"
    beside.mkdir()
    assert sample_folder() == beside
    inside.mkdir()
    assert sample_folder() == inside


def test_without_samples_the_error_says_where_they_should_be(package: Path):
    with pytest.raises(
        FileError, match=f"sample data was found neither in '{package}' nor beside it"
    ):
        sample_folder()


def test_every_file_of_every_sample_is_there():
    names = [
        name
        for sample in SAMPLES
        for name in (sample.rankings, sample.judgements, sample.queries)
        if name
    ]
    assert [name for name in names if not (sample_folder() / name).exists()] == []
