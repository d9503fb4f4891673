"""Commands of the command line, in this process."""

from click.testing import CliRunner, Result

from retrieval_report.cli import cli


def run(words: str, *more: object, code: int = 0, given: bytes | None = None) -> Result:
    """What a command does that ends with this code; ``words`` are divided at blanks, ``more`` are
    words as they are. An exception in the command is raised here.
    """
    arguments = [*words.split(), *map(str, more)]
    result = CliRunner().invoke(cli, arguments, input=given, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result
