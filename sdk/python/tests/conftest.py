from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from world import Person, Server

numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that all tests share. Tests that kill it start one of their own."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def own_server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def person_on(server: Server) -> Person:
    name = f"bot-{next(numbers)}"
    token, token_id = server.agent_token(name)
    return Person(server, token, token_id, name)


@pytest.fixture
def person(server: Server) -> Person:
    return person_on(server)


@pytest.fixture
def own_person(own_server: Server) -> Person:
    return person_on(own_server)
