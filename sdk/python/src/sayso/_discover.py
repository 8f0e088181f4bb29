"""Finds the server and the agent token of this machine, as the command line tool does.

The admin token of the data directory is never read: a program that asks must not be able to answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .errors import NoServerError, NoTokenError


class Target(NamedTuple):
    url: str
    token: str

    def __repr__(self) -> str:
        return f"Target(url={self.url!r})"


def data_dir(environment: Mapping[str, str]) -> Path | None:
    if given := environment.get("SAYSO_DATA_DIR"):
        return Path(given)
    state = environment.get("XDG_STATE_HOME", "")
    # The XDG specification says to ignore relative paths.
    if os.path.isabs(state):
        return Path(state, "sayso")
    home = environment.get("HOME", "")
    return Path(home, ".local/state/sayso") if os.path.isabs(home) else None


def discover(
    url: str | None, token: str | None, agent: str | None, environment: Mapping[str, str] | None = None
) -> Target:
    """The server and token to use. Arguments come first, then variables, then files of the data directory."""
    environment = os.environ if environment is None else environment
    return Target(_find_url(url, environment), _find_token(token, agent, environment))


def _find_url(given: str | None, environment: Mapping[str, str]) -> str:
    if url := given or environment.get("SAYSO_URL"):
        return url.rstrip("/")
    directory = data_dir(environment)
    if directory is None:
        raise NoServerError("Neither SAYSO_URL nor HOME is set")
    path = directory / "server.json"
    try:
        file = json.loads(path.read_text())
        found, pid = str(file["url"]), int(file["pid"])
    except FileNotFoundError:
        raise NoServerError(f"No server runs on this machine (looked in {path})") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoServerError(f"{path} cannot be read: {error}") from None
    if not _is_running(pid):
        raise NoServerError(f"The server of {path} has stopped")
    return found.rstrip("/")


def _is_running(pid: int) -> bool:
    """Whether the process exists. Another program may listen on the port of a server that was killed, and must not get
    the token."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OverflowError, ValueError):
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except OSError:
        return True
    # A killed process stays a zombie until its parent has read its exit status.
    return state not in (["Z"], ["X"])


def _find_token(given: str | None, agent: str | None, environment: Mapping[str, str]) -> str:
    if token := given or environment.get("SAYSO_AGENT_TOKEN"):
        return token
    directory = data_dir(environment)
    names = [f"agent-token-{agent}"] if agent and "/" not in agent else []
    for name in [*names, "agent-token"]:
        try:
            token = directory.joinpath(name).read_text().strip() if directory else ""
        except OSError:
            continue
        if token:
            return token
    raise NoTokenError(f"There is no agent token (looked in SAYSO_AGENT_TOKEN and {directory})")
