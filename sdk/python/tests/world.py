"""A real server for tests, and a person who answers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import sayso

T = TypeVar("T")


def until(what: str, look: Callable[[], T | None], within: float = 60.0) -> T:
    """Waits until `look` returns something."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"did not happen within {within} s: {what}")


class Server:
    """`sayso serve` in a directory of its own. It can be killed and started again."""

    def __init__(self) -> None:
        binary = os.environ.get("SAYSO_BIN")
        if not binary:
            raise RuntimeError("SAYSO_BIN is not set. Run the tests with: scripts/python-sdk.sh")
        self.binary = binary
        self.directory = tempfile.TemporaryDirectory(prefix="sayso-python-")
        self.data = Path(self.directory.name, "data")
        home = Path(self.directory.name, "home")
        home.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SAYSO_DATA_DIR": str(self.data)}
        self.listen = "127.0.0.1:0"
        self.start()
        self.listen = self.url.removeprefix("http://")
        self.admin_token = self.data.joinpath("token").read_text().strip()

    def start(self) -> None:
        command = [self.binary, "serve", "--listen", self.listen, "--data-dir", str(self.data)]
        self.process = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.match(r"listening on (http:\S+)", line):
                self.url = found.group(1).rstrip("/")
                # Discard the rest; a full pipe would block the server.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self.directory.cleanup()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the admin, without the SDK."""
        request = urllib.request.Request(
            f"{self.url}/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.admin_token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            content = response.read()
        return json.loads(content) if content else None

    def set_policy(self, text: str) -> None:
        fingerprint = self.call("GET", "/policy")["textFingerprint"]
        self.call("PUT", "/policy", {"text": text, "ifFingerprint": fingerprint})

    def agent_token(self, name: str = "python") -> tuple[str, str]:
        """A new agent token: its secret and its id."""
        created = self.call("POST", "/tokens", {"role": "agent", "actor": name})
        return created["token"], created["id"]


class Person:
    """A person who decides the asks of one agent token."""

    def __init__(self, server: Server, token: str, token_id: str, name: str) -> None:
        self.server = server
        self.token = token
        self.token_id = token_id
        self.name = name

    def asks(self, status: str = "pending") -> list[dict[str, Any]]:
        return self.server.call("GET", f"/asks?status={status}&agent={self.name}")["data"]

    def next(self) -> dict[str, Any]:
        """Waits for an ask that is pending."""
        return until("an ask is pending", lambda: (self.asks() or [None])[0])

    def decide(self, how: str, ask: dict[str, Any] | None = None, **body: Any) -> dict[str, Any]:
        return self.server.call("POST", f"/asks/{(ask or self.next())['id']}/{how}", body)

    def answer(self, *answers: list[str], **body: Any) -> dict[str, Any]:
        return self.decide("answer", answers=list(answers), **body)

    def approve(self, **body: Any) -> dict[str, Any]:
        return self.decide("approve", **body)

    def deny(self, **body: Any) -> dict[str, Any]:
        return self.decide("deny", **body)

    def ask(self, ask_id: str) -> dict[str, Any]:
        return self.server.call("GET", f"/asks/{ask_id}")

    def soon(self, act: Callable[[], Any]) -> threading.Thread:
        """Acts in another thread, as a person does while the agent waits."""
        thread = threading.Thread(target=act, daemon=True)
        thread.start()
        return thread

    def client(self, **options: Any) -> sayso.Sayso:
        return sayso.Sayso(url=self.server.url, token=self.token, agent=self.name, **options)

    def async_client(self, **options: Any) -> sayso.AsyncSayso:
        return sayso.AsyncSayso(url=self.server.url, token=self.token, agent=self.name, **options)

    def program(self, code: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a Python program that finds this server by its variables."""
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": self.server.environment["HOME"],
            "SAYSO_URL": self.server.url,
            "SAYSO_AGENT_TOKEN": self.token,
            **environment,
        }
        # A program inherits ignored signals, and `nohup` and many CI runners ignore SIGINT.
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
