"""What a person decided."""

from __future__ import annotations

from typing import Any


class Answer(str):
    """The answer to a question. It is a string, with more to read where it matters."""

    #: What the person added to the answer.
    note: str | None
    ask_id: str
    #: Who decided: the name of a person, else `policy` or `timeout`.
    by: str

    def __new__(cls, text: str, note: str | None = None, ask_id: str = "", by: str = "") -> Answer:
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
    by = outcome.get("by") or {}
    return str(by.get("name") or by.get("kind") or "")


def decision_of(ask: dict[str, Any]) -> Decision:
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
