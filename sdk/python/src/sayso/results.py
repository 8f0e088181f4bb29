"""The results of asks: answers, approvals, groups and claims."""

from __future__ import annotations

from typing import Any

from .errors import StateError


class Answer(str):
    """The answer to a question as a string, with the person's note and name."""

    #: What the person added to the answer.
    note: str | None
    ask_id: str
    #: Who decided: the name of a person, else `policy` or `timeout`.
    by: str

    def __new__(cls, text: str, note: str | None = None, ask_id: str = "", by: str = "") -> Answer:
        """Creates an answer, for example for tests."""
        answer = super().__new__(cls, text)
        answer.note, answer.ask_id, answer.by = note, ask_id, by
        return answer


class Decision:
    """The outcome of an approval."""

    __slots__ = ("approved", "ask_id", "by", "choice", "input", "message", "status", "stop")

    def __init__(
        self,
        *,
        approved: bool,
        message: str = "",
        input: dict[str, Any] | None = None,
        choice: str | None = None,
        stop: bool = False,
        status: str = "",
        by: str = "",
        ask_id: str = "",
    ) -> None:
        self.approved = approved
        #: For the model. Never empty if the approval was not given.
        self.message = message
        #: The arguments to use instead, if the person edited them.
        self.input = input
        #: The id of the choice that was taken, for example `always`.
        self.choice = choice
        #: Whether the person told the agent to stop.
        self.stop = stop
        #: `approved`, `denied` or `withdrawn`.
        self.status = status
        self.by = by
        self.ask_id = ask_id

    def __bool__(self) -> bool:
        return self.approved

    def __repr__(self) -> str:
        return f"Decision(status={self.status!r}, by={self.by!r}, ask_id={self.ask_id!r})"


def who(outcome: dict[str, Any]) -> str:
    """Returns the name of the person who decided, else `policy` or `timeout`."""
    by = outcome.get("by") or {}
    return str(by.get("name") or by.get("kind") or "")


def decision_of(ask: dict[str, Any]) -> Decision:
    """Converts a decided approval to its decision."""
    outcome = ask.get("outcome") or {}
    status = str(outcome.get("status") or ask.get("status"))
    # `withheld`: a file that the command executes changed after the approval.
    approved = status == "approved" and ask.get("delivery") != "withheld"
    message = str(outcome.get("message") or "")
    if not approved and not message:
        message = "The approval was withdrawn." if status == "withdrawn" else "User denied tool execution"
    changed = outcome.get("input")
    return Decision(
        approved=approved,
        message=message,
        input=changed if approved and isinstance(changed, dict) else None,
        choice=outcome.get("choice"),
        stop=outcome.get("stop") is True,
        status=status,
        by=who(outcome),
        ask_id=str(ask.get("id")),
    )


class Claim:
    """The right to resume one suspended run."""

    __slots__ = ("_lost", "asks", "epoch", "group_id", "key", "name", "resume_ref", "state")

    def __init__(self, reply: dict[str, Any]) -> None:
        group = reply["group"]
        self.group_id: str = group["id"]
        #: The runs that the group belongs to.
        self.name: str = group["name"]
        self.key: str | None = group.get("key")
        self.epoch: int = reply["epoch"]
        #: The text that was stored with the group.
        self.state: str | None = reply.get("state")
        self.resume_ref: str | None = reply.get("resumeRef")
        #: The asks with their outcomes, in the order in which they were opened.
        self.asks: list[dict[str, Any]] = group["asks"]
        self._lost = False

    @property
    def lost(self) -> bool:
        """Whether this worker lost the claim: its lease expired. Synchronous functions check it before each tool."""
        return self._lost

    def decision(self, tool_call_id: str) -> Decision | None:
        """The outcome of the approval for this tool call."""
        ask = self.ask(tool_call_id)
        return None if ask is None else decision_of(ask)

    def reply(self, tool_call_id: str) -> tuple[bool, str] | None:
        """For the question of this tool call: `True` and the answer, or `False` and the text that the model gets
        instead."""
        ask = self.ask(tool_call_id)
        return None if ask is None else reply_of(ask)

    def ask(self, tool_call_id: str) -> dict[str, Any] | None:
        """The ask of this tool call with its outcome. Raises `StateError` if several asks have this id."""
        asks = [ask for ask in self.asks if ask.get("toolCallId") == tool_call_id]
        if len(asks) > 1:
            raise StateError(
                f"Several asks of the group have the id {tool_call_id}",
                next_step="Use `asks`, which has them in the order in which they were opened.",
            )
        return asks[0] if asks else None

    def __repr__(self) -> str:
        return f"Claim(name={self.name!r}, group_id={self.group_id!r}, epoch={self.epoch})"


def reply_of(ask: dict[str, Any]) -> tuple[bool, str]:
    """Converts a decided question to `True` and its answer, or `False` and the text that the model gets instead."""
    outcome = ask.get("outcome") or {}
    if outcome.get("status") != "answered":
        return False, str(outcome.get("message") or "The user declined to answer")
    entries = [", ".join(map(str, entries)) for entries in outcome.get("answers") or [] if isinstance(entries, list)]
    text = "\n".join(entries)
    note = outcome.get("note")
    return True, f"{text}\n\n{note}" if note else text
