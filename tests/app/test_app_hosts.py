"""The dashboard's server answers names of this machine alone."""

import re
import socket
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")

SETTINGS = Path(__file__).parents[2] / "app" / ".streamlit" / "config.toml"
UPGRADE = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: "
    "Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    "dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def answer(server: str, host: str, origin: str | None = None) -> str:
    """The first line of what a request to open a session is answered with."""
    port = urlsplit(server).port
    with socket.create_connection(("127.0.0.1", port or 0), timeout=30) as connection:
        words = UPGRADE.format(host=f"{host}:{port}")
        if origin is not None:
            words = re.sub("Origin: .*\r\n", lambda _: f"Origin: {origin}\r\n", words)
        connection.sendall(words.encode())
        return connection.recv(1000).decode("latin-1").splitlines()[0]


@pytest.mark.browser
def test_a_name_that_was_made_to_mean_this_machine_opens_no_session(server: str):
    for host in ("127.0.0.1", "localhost", "LOCALHOST.", "[::1]"):
        assert "101" in answer(server, host), host
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "127.0.0.1@evil",
    ):
        assert "101" not in answer(server, host), host


@pytest.mark.browser
@pytest.mark.parametrize(
    "origin",
    [
        *("http://[::1", "http://[zz]", "null", "", "http://a:b:c", "http://evil.example"),
        *(r"http://evil.example\@localhost", "http://evil.example@localhost", "http://xlocalhost"),
    ],
)
def test_pages_of_elsewhere_are_refused_and_nobody_is_asked(server: str, origin: str):
    """Streamlit answered the first two with an internal error, and asked the internet for the
    others.
    """
    assert "403" in answer(server, "127.0.0.1", origin)


NAMES = (("localhost", "200"), ("[::1]", "200"), ("evil.example", "403"), ("xlocalhost", "403"))


@pytest.mark.browser
@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/host-config"])
def test_pages_are_answered_to_names_of_this_machine_alone(server: str, path: str):
    port = urlsplit(server).port
    for host, status in NAMES:
        with socket.create_connection(("127.0.0.1", port or 0), timeout=30) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            assert status in connection.recv(1000).decode("latin-1").splitlines()[0], host


def test_tracebacks_stay_in_the_terminal():
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    assert settings["client"]["showErrorDetails"] == "type"


def test_only_this_machine_is_served():
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["server"]
    assert settings["address"] == "127.0.0.1"
    assert settings["allowedHosts"] == ["localhost", "127.0.0.1", "::1"]
