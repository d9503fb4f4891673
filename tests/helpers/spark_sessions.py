"""Spark sessions of three kinds for the tests: one machine, two executors, and Spark Connect.

A process can hold one session at a time, so the sessions take turns: `Sessions.ask` stops the one
of another kind. `tests/conftest.py` sorts the tests by kind, and gives those of a kind to one
process of pytest-xdist.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KINDS = ("local", "cluster", "connect")
MASTERS = {"local": "local[2]", "cluster": "local-cluster[2,1,1024]", "connect": "local[2]"}
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# Most of the CPU time of small jobs goes into Java's second compiler: without it the tests need
# half. Of what is left a tenth is spent on verifying the bytecode of Spark's own classes, anew in
# each of six processes.
QUICK = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions "
    "-XX:-BytecodeVerificationRemote"
)
LOGGING = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


def missing() -> str | None:
    """Why there is no Spark here, or None."""
    if importlib.util.find_spec("pyspark") is None:
        return "needs pyspark: pip install 'retrieval-report[spark]'"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "needs Java 17 or later, such as Debian's openjdk-17-jre-headless"
    return None


def settings(folder: Path) -> dict[str, Any]:
    """Settings that keep a session on this machine, small, and its files in a folder."""
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.extraJavaOptions": QUICK,
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "2",  # once for a killed executor; bad data fail as often as they may
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def environment(folder: Path) -> dict[str, str]:
    """Environment variables of every process of Spark: this Python, the tests' modules, files in a
    folder.
    """
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "conf" / "log4j2.properties").write_text(LOGGING)
    return {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        ),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
    }


@contextmanager
def variables(added: Mapping[str, str], removed: tuple[str, ...] = ()) -> Iterator[None]:
    """Change the environment for the processes started in the meantime."""
    before = dict(os.environ)
    os.environ.update(added)
    for name in removed:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        for name in {*added, *removed}:
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]


class Sessions:
    """The one Spark session of this process, of the kind last asked for."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="retrieval-report-spark-"))
        self.kind: str | None = None
        self.session: Any = None
        self.server: subprocess.Popen[bytes] | None = None

    def ask(self, kind: str) -> Any:
        """The session of this kind; one of another kind is stopped first."""
        if kind != self.kind:
            self.stop()
            # Workers are ended, not left to finish: measuring them would slow them down and keep
            # nothing.
            with variables(
                environment(self.folder), ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
            ):
                self.session = self._connect() if kind == "connect" else self._start(MASTERS[kind])
            self.kind = kind
        return self.session

    def stop(self) -> None:
        """Leave no session and no server behind."""
        if self.session is not None:
            self.session.stop()
        if self.server is not None:
            self.server.terminate()
            self.server.wait()
            os.environ.pop(
                "SPARK_CONNECT_MODE_ENABLED"
            )  # set by the client; classic sessions refuse to start with it
        self.kind = self.session = self.server = None

    def close(self) -> None:
        """Stop, and remove the files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, master: str) -> Any:
        from pyspark.sql import SparkSession

        return SparkSession.builder.master(master).config(map=settings(self.folder)).getOrCreate()

    def _connect(self) -> Any:
        """A client without Java in its process, and the server it talks to."""
        import pyspark
        from pyspark.sql import SparkSession

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        measure = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
        }
        options = [
            f"--conf={name}={value}" for name, value in (settings(self.folder) | measure).items()
        ]
        home = str(Path(pyspark.__file__).parent)
        command = [
            f"{home}/bin/spark-submit",
            "--master",
            MASTERS["connect"],
            "--class",
            SERVER,
            *options,
        ]
        log = (self.folder / "server.log").open("wb")
        with log, variables({"SPARK_HOME": home}):
            self.server = subprocess.Popen(
                [*command, "spark-internal"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait_for(port)
        return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()

    def _wait_for(self, port: int) -> None:
        assert self.server is not None
        while self.server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise RuntimeError((self.folder / "server.log").read_text())
