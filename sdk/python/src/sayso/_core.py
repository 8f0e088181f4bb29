"""The one implementation behind `Sayso` and `AsyncSayso`. Runs in the I/O thread."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ._discover import discover
from ._http import Backoff, Http, is_passing, part
from ._io_thread import IoThread
from ._outcomes import Outcomes
from .errors import AlreadyResolvedError, NotFoundError, QuestionRejectedError, SaysoError, SecretLostError
from .results import Answer, Claim, Decision, decision_of, who

if TYPE_CHECKING:
    from . import types

#: How long the server keeps an ask for a caller that is gone. With a key, the caller can come back for it.
KEEP_WITH_KEY = "1d"
KEEP_WITHOUT_KEY = "1h"

Option = str | Mapping[str, Any]


class Core:
    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        labels: Mapping[str, str] | None = None,
        retry_for: float = 10.0,
    ) -> None:
        self._place = (url, token, agent)
        self._retry_for = retry_for
        self._shared = {"agent": agent, "project": project, "labels": dict(labels or {}) or None}
        self._io: IoThread | None = None

    def attach(self, io: IoThread) -> None:
        """Connections belong to one I/O thread. A forked process has another one."""
        if self._io is not io:
            self._io = io
            self.http = Http(lambda: discover(*self._place), self._retry_for)
            self._outcomes: Outcomes | None = None

    @property
    def outcomes(self) -> Outcomes:
        if self._outcomes is None:
            self._outcomes = Outcomes(self.http)
        return self._outcomes

    # -- asking ------------------------------------------------------------------------------------------------------

    async def ask(
        self,
        /,
        question: str,
        *,
        options: Sequence[Option] | None = None,
        custom: bool = True,
        secret: bool = False,
        header: str | None = None,
        schema: Mapping[str, Any] | None = None,
        key: str | None = None,
        **ask: Any,
    ) -> Answer:
        """Asks a person one question, and returns the answer.

        With `options` the person chooses one, or writes their own answer unless `custom` is false. `schema` is a JSON
        Schema that the person's own answer has to fit: with `"type": "string"` as text, otherwise as JSON. With `key`,
        an ask that this program opened before it was restarted is continued. Further arguments are fields of
        `POST /v1/asks` in snake case, for example `title`, `context`, `timeout` or `tool_call_id`. Raises
        `QuestionRejectedError` if there will be no answer.
        """
        item = {
            "text": question,
            "header": header,
            "custom": custom,
            "secret": secret,
            "options": _options(options),
            "responseSchema": dict(schema) if schema is not None else None,
        }
        decided = await self._ask_one(item, key, ask)
        return self._answer(decided, 0)

    async def select(
        self, /, question: str, options: Sequence[Option], *, custom: bool = True, key: str | None = None, **ask: Any
    ) -> list[str]:
        """Lets a person choose any number of options."""
        item = {"text": question, "multiple": True, "custom": custom, "options": _options(options)}
        return _entries(await self._ask_one(item, key, ask), 0)

    async def confirm(self, /, question: str, *, key: str | None = None, **ask: Any) -> bool:
        """Asks a question that is answered with yes or no. Use `approve` for permission to do something."""
        decided = await self._ask_one({"text": question, "input": "yesNo"}, key, ask)
        return self._answer(decided, 0) == "true"

    async def ask_all(
        self, /, questions: Sequence[Mapping[str, Any]], *, key: str | None = None, **ask: Any
    ) -> list[list[str]]:
        """Asks several questions on one card. Each is a question of `POST /v1/asks`; returns one list per question."""
        decided = await self.settle({**_fields(ask), "questions": [dict(item) for item in questions]}, key)
        self._require_answers(decided)
        return [_entries(decided, index) for index in range(len(questions))]

    async def approve(
        self,
        /,
        tool: str,
        input: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        editable: bool = False,
        input_schema: Mapping[str, Any] | None = None,
        allowed_decisions: Sequence[str] | None = None,
        command: str | None = None,
        action: str | None = None,
        paths: Sequence[str] | None = None,
        url: str | None = None,
        choices: Sequence[Mapping[str, str]] | None = None,
        summary: str | None = None,
        reason: str | None = None,
        **ask: Any,
    ) -> Decision:
        """Asks a person for permission to call a tool with this input.

        Set `editable` only if you use `decision.input`: the card then offers to edit the arguments. An edit has to fit
        the JSON Schema `input_schema`. `allowed_decisions` are the decisions that people can make: `approve`, `edit`
        and `deny`; a rule or a deadline can always deny. `summary` is the line that the card shows, `reason` says why
        the tool is needed. `command` makes it a shell command for the policy, `url` a fetch; `paths` needs `action`,
        `edit` or `read`.
        """
        action = action or ("run" if command is not None else "fetch" if url is not None else "other")
        approval = {
            "tool": tool,
            "action": action,
            "input": dict(input or {}),
            "editable": editable,
            "inputSchema": dict(input_schema) if input_schema is not None else None,
            "allowedDecisions": list(allowed_decisions) if allowed_decisions is not None else None,
            "command": command,
            "paths": list(paths) if paths else None,
            "url": url,
            "choices": [dict(choice) for choice in choices] if choices else None,
            "title": summary,
            "reason": reason,
        }
        return decision_of(await self.settle({**_fields(ask), "approval": _given(approval)}, key))

    async def notify(self, text: str) -> None:
        """Shows a notice to people. Does not wait."""
        await self.http.request("POST", "/notices", body={"text": text})

    async def settle(self, new: dict[str, Any], key: str | None = None) -> dict[str, Any]:
        """Opens an ask, waits until it is decided, and takes the outcome. If the wait is cancelled, the ask is
        withdrawn."""
        body = {**_given(self._shared), **_given(new)}
        if key is not None:
            body["dedupeKey"] = key
        body.setdefault("keep", KEEP_WITH_KEY if body.get("dedupeKey") else KEEP_WITHOUT_KEY)
        waiter = None
        with self.outcomes.opening() as gapless:
            opening = asyncio.ensure_future(self.http.request("POST", "/asks", body=body))
            try:
                ask = await asyncio.shield(opening)
            except asyncio.CancelledError:
                self._in_background(self._withdraw_when_open(opening))
                raise
            if ask["status"] == "pending":
                waiter = self.outcomes.waiter(ask["id"], gapless)
        try:
            if waiter is not None:
                await waiter.wait()
            return await self._take_outcome(ask["id"])
        except asyncio.CancelledError:
            self._in_background(self._withdraw(ask["id"]))
            raise

    async def _ask_one(self, item: dict[str, Any], key: str | None, ask: dict[str, Any]) -> dict[str, Any]:
        decided = await self.settle({**_fields(ask), "questions": [_given(item)]}, key)
        self._require_answers(decided)
        return decided

    def _require_answers(self, ask: dict[str, Any]) -> None:
        outcome = ask.get("outcome") or {}
        status = str(outcome.get("status") or ask.get("status"))
        if status == "answered":
            return
        default = "The question was withdrawn" if status == "withdrawn" else "The user declined to answer"
        message = str(outcome.get("message") or default)
        raise QuestionRejectedError(message, status=status, stop=outcome.get("stop") is True, ask_id=ask["id"])

    def _answer(self, ask: dict[str, Any], index: int) -> Answer:
        outcome = ask["outcome"]
        text = ", ".join(_entries(ask, index))
        return Answer(text, note=outcome.get("note"), ask_id=ask["id"], by=who(outcome))

    async def _take_outcome(self, ask_id: str) -> dict[str, Any]:
        """Tells the server that the outcome arrived, before it is used.

        The server gives an approval to one taker: of two programs that wait for the same ask, one calls the tool.
        """
        query = {"taker": secrets.token_hex(16)}
        ask = await self.http.request("POST", f"/asks/{part(ask_id)}/receipt", query=query, retry_for=math.inf)
        return cast("dict[str, Any]", ask)

    def _in_background(self, call: Any) -> None:
        assert self._io is not None
        self._io.in_background(call)

    async def _withdraw_when_open(self, opening: asyncio.Future[Any]) -> None:
        try:
            ask = await opening
        except SaysoError:
            return
        await self._withdraw(ask["id"])

    async def _withdraw(self, ask_id: str) -> None:
        backoff = Backoff()
        while True:
            try:
                await self.asks_withdraw(ask_id, reason="The agent stopped waiting.")
            except (AlreadyResolvedError, NotFoundError):
                return
            except SaysoError as error:
                if not is_passing(error):
                    return
                await backoff.pause()
            else:
                return

    # -- asks --------------------------------------------------------------------------------------------------------

    async def asks_open(self, ask: types.NewAsk) -> types.Ask:
        """Opens an ask and does not wait for it."""
        return cast("types.Ask", await self.http.request("POST", "/asks", body={**_given(self._shared), **ask}))

    async def asks_list(self, /, **query: Any) -> types.AskPage:
        """A page of asks. Arguments are the parameters of `GET /v1/asks`."""
        return cast("types.AskPage", await self.http.request("GET", "/asks", query=_fields(query)))

    async def asks_get(self, ask_id: str) -> types.Ask:
        """Reads one ask."""
        return cast("types.Ask", await self.http.request("GET", f"/asks/{part(ask_id)}"))

    async def asks_wait(self, ask_id: str) -> types.Ask:
        """Waits until the ask is decided, however long that takes, and returns it. Does not take the outcome."""
        with self.outcomes.opening() as gapless:
            ask = await self.asks_get(ask_id)
            if ask["status"] != "pending":
                return ask
            waiter = self.outcomes.waiter(ask["id"], gapless)
        await waiter.wait()
        return cast("types.Ask", await self.http.request("GET", f"/asks/{part(ask_id)}", retry_for=math.inf))

    async def asks_take(self, ask_id: str) -> types.Ask:
        """Takes the outcome of an ask that this token opened. A secret answer is returned once."""
        return cast("types.Ask", await self._take_outcome(ask_id))

    async def asks_withdraw(self, ask_id: str, reason: str | None = None) -> types.Ask:
        """Withdraws a pending ask, with a reason that people see."""
        ask = await self.http.request("DELETE", f"/asks/{part(ask_id)}", query={"reason": reason})
        return cast("types.Ask", ask)

    async def asks_withdraw_by_key(self, key: str, reason: str | None = None) -> types.Ask:
        """Withdraws the pending ask that was opened with this `key`, for example by a program that was killed."""
        ask = await self.http.request("DELETE", "/asks", query={"dedupeKey": key, "reason": reason})
        return cast("types.Ask", ask)

    async def asks_answer(self, ask_id: str, answers: Sequence[Sequence[str]], note: str | None = None) -> types.Ask:
        """Answers the questions of an ask: one list of entries per question. Not permitted for agent tokens."""
        body = {"answers": [list(entries) for entries in answers], "note": note}
        return await self._decide(ask_id, "answer", body)

    async def asks_reject(self, ask_id: str, message: str | None = None, stop: bool = False) -> types.Ask:
        """Rejects the questions of an ask. Not permitted for agent tokens."""
        return await self._decide(ask_id, "reject", {"message": message, "stop": stop})

    async def asks_approve(
        self, ask_id: str, input: Mapping[str, Any] | None = None, choice: str | None = None
    ) -> types.Ask:
        """Approves a tool call, with another input if given. Not permitted for agent tokens."""
        body = _given({"input": dict(input) if input is not None else None, "choice": choice})
        return await self._decide(ask_id, "approve", body)

    async def asks_deny(self, ask_id: str, message: str | None = None, stop: bool = False) -> types.Ask:
        """Denies an approval. Not permitted for agent tokens."""
        return await self._decide(ask_id, "deny", {"message": message, "stop": stop})

    async def _decide(self, ask_id: str, how: str, body: dict[str, Any]) -> types.Ask:
        return cast("types.Ask", await self.http.request("POST", f"/asks/{part(ask_id)}/{how}", body=body))

    # -- groups ------------------------------------------------------------------------------------------------------

    async def groups_open(
        self,
        /,
        name: str,
        asks: Sequence[Mapping[str, Any]],
        *,
        key: str | None = None,
        state: str | None = None,
        retry: bool = False,
        **group: Any,
    ) -> types.Group:
        """Opens the asks at which a run pauses, and stores the state that a worker needs to resume the run.

        Workers claim the group by its `name`. With `key`, a repeated call returns the same group. Further arguments
        are fields of `POST /v1/groups` in snake case, for example `keep`, `callback` or `resume_ref`.
        """
        shared = _given(self._shared)
        body = {**_fields(group), **_given({"name": name, "key": key, "state": state, "retry": retry or None})}
        body["asks"] = [{**shared, **_given(ask)} for ask in asks]
        return cast("types.Group", await self.http.request("POST", "/groups", body=body))

    async def groups_get(self, group_id: str) -> types.Group:
        """Reads one group."""
        return cast("types.Group", await self.http.request("GET", f"/groups/{part(group_id)}"))

    async def groups_withdraw(self, group_id: str, reason: str | None = None) -> types.Group:
        """Withdraws a group and its asks, and deletes its state."""
        return cast(
            "types.Group", await self.http.request("DELETE", f"/groups/{part(group_id)}", query={"reason": reason})
        )

    async def groups_ready(self, name: str, wait: float = 0) -> int:
        """Returns how many groups of this name can be claimed. Waits up to `wait` seconds for one, at most 60."""
        query = {"name": name, "wait": f"{max(0, int(wait))}s"}
        reply = await self.http.request("GET", "/groups/ready", query=query, reply_within=wait + 30)
        return int(reply["ready"])

    async def groups_claim(
        self,
        name: str | None = None,
        *,
        worker: str,
        group_id: str | None = None,
        lease: str | None = None,
        idempotency_key: str | None = None,
    ) -> Claim | None:
        """Claims the oldest complete group with a name, or one group by id. `None` if no such group is complete.

        If this call fails because no reply arrives, the server may have claimed a group. Repeat the call with the same
        `idempotency_key` to get that claim.
        """
        body = _given({"name": name, "group": group_id, "worker": worker, "lease": lease})
        reply = await self.http.request("POST", "/groups/claim", body=body, idempotency_key=idempotency_key)
        return None if reply is None else Claim(reply)

    async def groups_renew(self, claim: Claim, lease: str | None = None) -> None:
        """Extends the lease of a claim."""
        body = _given({"epoch": claim.epoch, "lease": lease})
        await self.http.request("POST", f"/groups/{part(claim.group_id)}/renew", body=body)

    async def groups_ack(self, claim: Claim) -> None:
        """Reports that the run was resumed. The state is deleted."""
        path = f"/groups/{part(claim.group_id)}/ack"
        await self.http.request("POST", path, body={"epoch": claim.epoch}, retry_for=math.inf)

    async def groups_release(self, claim: Claim, *, started: bool, reason: str | None = None) -> None:
        """Releases a claim. If the run was started, a person decides whether it is resumed again."""
        body = _given({"epoch": claim.epoch, "started": started, "reason": reason})
        await self.http.request("POST", f"/groups/{part(claim.group_id)}/release", body=body)

    # -- sessions ----------------------------------------------------------------------------------------------------

    async def sessions_create(self, /, **session: Any) -> types.Session:
        """Starts an agent. Arguments are the fields of `POST /v1/sessions`; only `agent` is required."""
        return cast("types.Session", await self.http.request("POST", "/sessions", body=_fields(session)))

    async def sessions_list(self, /, **query: Any) -> types.SessionPage:
        """A page of sessions. Arguments are the parameters of `GET /v1/sessions`."""
        return cast("types.SessionPage", await self.http.request("GET", "/sessions", query=_fields(query)))

    async def sessions_get(self, session_id: str) -> types.Session:
        """Reads one session."""
        return cast("types.Session", await self.http.request("GET", f"/sessions/{part(session_id)}"))

    async def sessions_message(self, /, session_id: str, text: str, **message: Any) -> types.MessageAccepted:
        """Sends a message to the agent. `message` are further fields of `POST /v1/sessions/{id}/messages`."""
        body = {"text": text, **_fields(message)}
        accepted = await self.http.request("POST", f"/sessions/{part(session_id)}/messages", body=body)
        return cast("types.MessageAccepted", accepted)

    async def sessions_interrupt(self, session_id: str) -> None:
        """Stops the current turn. The session continues."""
        await self.http.request("POST", f"/sessions/{part(session_id)}/interrupt", body={})

    async def sessions_resume(self, session_id: str) -> None:
        """Restarts the agent of an ended session."""
        await self.http.request("POST", f"/sessions/{part(session_id)}/resume", body={})

    async def sessions_close(self, session_id: str) -> None:
        """Ends the session."""
        await self.http.request("DELETE", f"/sessions/{part(session_id)}")

    async def sessions_transcript(self, /, session_id: str, **query: Any) -> types.Transcript:
        """A page of the transcript. Arguments are the parameters of the route."""
        page = await self.http.request("GET", f"/sessions/{part(session_id)}/transcript", query=_fields(query))
        return cast("types.Transcript", page)

    # -- runs and policy ---------------------------------------------------------------------------------------------

    async def runs_start(self, /, workflow: str | Mapping[str, Any], **run: Any) -> types.Run:
        """Starts a run of a workflow: the name of a file on the server, or the workflow itself."""
        body = {"workflow": workflow, **_fields(run)}
        return cast("types.Run", await self.http.request("POST", "/runs", body=body))

    async def runs_list(self, /, **query: Any) -> types.RunPage:
        """A page of runs. Arguments are the parameters of `GET /v1/runs`."""
        return cast("types.RunPage", await self.http.request("GET", "/runs", query=_fields(query)))

    async def runs_get(self, run_id: str) -> types.Run:
        """Reads one run with its steps."""
        return cast("types.Run", await self.http.request("GET", f"/runs/{part(run_id)}"))

    async def runs_cancel(self, run_id: str) -> types.Run:
        """Cancels a run and stops its agents."""
        return cast("types.Run", await self.http.request("POST", f"/runs/{part(run_id)}/cancel", body={}))

    async def policy_explain(self, /, **request: Any) -> types.Explanation:
        """Explains a decision of the policy. Arguments: fields of `POST /v1/policy/explain`, for example `ask_id`."""
        explanation = await self.http.request("POST", "/policy/explain", body=_fields(request))
        return cast("types.Explanation", explanation)

    async def request(self, method: str, path: str, *, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        """Calls any route of the API, for example `request("GET", "/agents")`."""
        return await self.http.request(method, path, body=body, query=query)

    # -- events ------------------------------------------------------------------------------------------------------

    async def events(self, since: int | None, session: str | None) -> AsyncIterator[types.Event]:
        """Every event once and in order, over lost connections and restarts of the server."""
        path = "/events" if session is None else f"/sessions/{part(session)}/events"
        if since is None:
            # A stream that starts now first learns its position, so that a lost connection loses no events.
            since = (await self.asks_list(limit=1))["seq"]
        backoff = Backoff()
        while True:
            try:
                async for event in self.http.stream(path, {"since": since}):
                    backoff.reset()
                    seq = event.get("seq")
                    if isinstance(seq, int):
                        if event.get("type") != "reset" and seq <= since:
                            continue
                        since = seq
                    yield cast("types.Event", event)
            except SaysoError as error:
                if not is_passing(error):
                    raise
            await backoff.pause()

    async def close(self) -> None:
        """Closes the connections of this client."""
        if self._io is not None:
            if self._outcomes is not None:
                await self._outcomes.close()
            await self.http.close()


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments without those that are `None`."""
    return {name: value for name, value in values.items() if value is not None}


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Converts arguments to fields of the API, for example `tool_call_id` to `toolCallId`."""
    return {_camel_case(name): value for name, value in values.items() if value is not None}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def _options(options: Sequence[Option] | None) -> list[dict[str, Any]] | None:
    if not options:
        return None
    return [{"label": option} if isinstance(option, str) else dict(option) for option in options]


def _entries(ask: dict[str, Any], index: int) -> list[str]:
    answers = (ask.get("outcome") or {}).get("answers") or []
    entries = answers[index] if index < len(answers) else []
    if isinstance(entries, dict):
        raise SecretLostError("The secret answer was handed out already", code="secret_lost")
    return [str(entry) for entry in entries]
