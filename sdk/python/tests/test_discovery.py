from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from world import Person

import sayso
from sayso._discover import discover


def directory(tmp_path: Path, pid: int) -> dict[str, str]:
    tmp_path.joinpath("server.json").write_text(
        json.dumps({"url": "http://127.0.0.1:4517/", "pid": pid, "version": "1"})
    )
    tmp_path.joinpath("token").write_text("admin-secret\n")
    return {"SAYSO_DATA_DIR": str(tmp_path)}


def test_admin_token_is_never_used(tmp_path: Path) -> None:
    environment = directory(tmp_path, os.getpid())
    with pytest.raises(sayso.NoTokenError, match="sayso token create my-app --role agent"):
        discover(None, None, None, {**environment, "SAYSO_TOKEN": "admin-secret"})
    tmp_path.joinpath("agent-token").write_text("agents\n")
    tmp_path.joinpath("agent-token-claude").write_text("claudes\n")
    assert discover(None, None, None, environment) == ("http://127.0.0.1:4517", "agents")
    assert discover(None, None, "claude", environment).token == "claudes"
    assert discover(None, None, "../token", environment).token == "agents"
    assert "agents" not in repr(discover(None, None, None, environment))


def test_arguments_come_before_variables_and_files(tmp_path: Path) -> None:
    environment = {**directory(tmp_path, os.getpid()), "SAYSO_URL": "http://box:1/", "SAYSO_AGENT_TOKEN": "mine"}
    assert discover(None, None, None, environment) == ("http://box:1", "mine")
    assert discover("http://other:2", "given", None, environment) == ("http://other:2", "given")


def test_file_of_a_killed_server_is_not_used(tmp_path: Path) -> None:
    killed = subprocess.Popen(["true"])
    killed.wait()
    with pytest.raises(sayso.NoServerError, match="sayso serve"):
        discover(None, "x", None, directory(tmp_path, killed.pid))


def test_no_server_is_named_with_the_place_that_was_searched(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    with pytest.raises(sayso.NoServerError, match=r"\.local/state/sayso/server\.json"):
        discover(None, "x", None, environment)
    tmp_path.joinpath("server.json").write_text("{")
    with pytest.raises(sayso.NoServerError, match="cannot be read"):
        discover(None, "x", None, {"SAYSO_DATA_DIR": str(tmp_path)})
    with pytest.raises(sayso.NoServerError, match="HOME"):
        discover(None, "x", None, {})


def test_program_finds_the_server_of_its_data_directory(person: Person) -> None:
    code = "from sayso import sync; print(sync.notify('Hello.'))"
    program = person.program(code, SAYSO_URL="", SAYSO_DATA_DIR=str(person.server.data))
    assert program.communicate(timeout=20) == ("None\n", "")
