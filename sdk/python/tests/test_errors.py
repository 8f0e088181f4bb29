from __future__ import annotations

import inspect
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from proxy import no_such_route, proxy
from world import Person

import sayso
from sayso import errors


def test_unreachable_server_is_named_after_the_retries() -> None:
    client = sayso.Sayso(url="http://127.0.0.1:9", token="x", retry_for=0.3)
    with pytest.raises(sayso.ServerUnreachableError, match=r"127\.0\.0\.1:9.*sayso status"):
        client.ask("Anybody?")


def test_wrong_token_and_role_are_named(person: Person) -> None:
    stranger = sayso.Sayso(url=person.server.url, token="wrong")
    with pytest.raises(sayso.UnauthorizedError):
        stranger.ask("Anybody?")
    with pytest.raises(sayso.ForbiddenError):
        person.client().sessions.create(agent="mock", prompt="hello")


def test_refused_requests_say_what_is_wrong(person: Person) -> None:
    client = person.client()
    with pytest.raises(sayso.NotFoundError):
        client.asks.get("../tokens")
    with pytest.raises(sayso.NotFoundError):
        client.asks.get("")
    with pytest.raises(sayso.ServerTooOldError, match="unknown field"):
        client.ask("Which database?", a_later_field=1)
    with pytest.raises(sayso.InvalidRequestError):
        client.ask("Which database?", timeout="soon")


def test_answers_of_others_win(person: Person) -> None:
    admin = sayso.Sayso(url=person.server.url, token=person.server.admin_token)
    ask = person.client().asks.open({"questions": [{"text": "Which database?"}]})
    admin.asks.answer(ask["id"], [["SQLite"]])
    with pytest.raises(sayso.AlreadyResolvedError) as raised:
        admin.asks.answer(ask["id"], [["PostgreSQL"]])
    assert raised.value.own
    assert raised.value.outcome is not None
    with pytest.raises(sayso.ConflictError):
        admin.asks.approve(ask["id"])


def test_reply_of_a_proxy_is_an_error() -> None:
    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(418)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *arguments: object) -> None:
            pass

    proxy = HTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    client = sayso.Sayso(url=f"http://127.0.0.1:{proxy.server_port}", token="x", retry_for=0)
    with pytest.raises(sayso.SaysoError, match="HTTP 418"):
        client.ask("Anybody?")
    proxy.shutdown()


def test_every_error_has_a_next_step_and_is_exported() -> None:
    classes = [
        value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, errors.SaysoError)
    ]
    assert len(classes) > 10
    for kind in classes:
        assert kind.next_step.endswith((".", ")")), kind
        assert getattr(sayso, kind.__name__) is kind


def test_server_of_an_earlier_version_is_asked_again_and_again(person: Person) -> None:
    """Without the stream of outcomes, each wait is a call of its own."""
    with proxy(person.server, no_such_route("/v1/outcomes")) as url:
        client = sayso.Sayso(url=url, token=person.token, agent=person.name)
        person.soon(lambda: person.answer(["SQLite"]))
        assert client.ask("Which database?") == "SQLite"
        person.soon(lambda: person.answer(["blue"]))
        assert client.ask("Which colour?") == "blue"


def test_server_without_groups_is_too_old(person: Person) -> None:
    ask = {"questions": [{"text": "Which colour?"}]}
    with proxy(person.server, no_such_route("/v1/groups")) as url:
        client = sayso.Sayso(url=url, token=person.token)
        with pytest.raises(sayso.ServerTooOldError, match="Upgrade the server"):
            client.groups.open("mailer", [ask])
        with pytest.raises(sayso.ServerTooOldError):
            client.groups.ready("mailer")


def test_route_that_the_server_does_not_have_is_of_a_later_version(person: Person) -> None:
    with pytest.raises(sayso.ServerTooOldError):
        person.client().request("GET", "/a-later-route")
