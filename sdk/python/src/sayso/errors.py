"""Every error of this package. Each one names the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .types import Outcome


class SaysoError(Exception):
    """A call failed. Branch on the class or on `code`; the text may change."""

    #: What to do about it, as one sentence.
    next_step: str = "Read the log of the server: sayso logs."

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        status: int = 0,
        problem: dict[str, Any] | None = None,
        next_step: str | None = None,
    ) -> None:
        if next_step is not None:
            self.next_step = next_step
        super().__init__(f"{message.rstrip('.')}. {self.next_step}")
        self.message = message
        #: The code of the API, for example `ask_not_found`.
        self.code = code
        #: The HTTP status, or 0 if the server sent no reply.
        self.status = status
        #: The whole reply of the server.
        self.problem: dict[str, Any] = problem or {}


class NoServerError(SaysoError):
    """No address is configured, and no server runs on this machine."""

    next_step = "Start one with `sayso serve`, or set SAYSO_URL."


class NoTokenError(SaysoError):
    """No agent token is configured. The admin token of the data directory is never used."""

    next_step = "Create one: export SAYSO_AGENT_TOKEN=$(sayso token create my-app --role agent)"


class ServerUnreachableError(SaysoError):
    """The server did not reply, also not after retries. Repeating the call is safe."""

    next_step = "Check that the server runs: sayso status."


class ServerTooOldError(SaysoError):
    """The server does not know this feature."""

    next_step = "Upgrade the server, then try again."


class UnauthorizedError(SaysoError):
    """The token is missing, unknown, expired or revoked."""

    next_step = "Create a new token: sayso token create my-app --role agent."


class ForbiddenError(SaysoError):
    """The role or the scope of the token does not permit the call."""

    next_step = "Use a token with another role, for example Sayso(token=…) with an admin token for sessions and runs."


class NotFoundError(SaysoError):
    """The resource does not exist, or the token cannot see it."""

    next_step = "Check the id. An agent token sees only what it opened."


class InvalidRequestError(SaysoError):
    """The server refused the content of the request."""

    next_step = "Correct the request; nothing was stored."


class InvalidAnswersError(InvalidRequestError):
    """The answers do not fit the questions. The ask stays pending."""

    next_step = "Correct the answers listed in `problem['problems']`."


class InvalidInputError(InvalidRequestError):
    """The changed input does not fit the `inputSchema` of the approval. The ask stays pending."""

    next_step = "Correct the input at the paths that the message names."


class InvalidSchemaError(InvalidRequestError):
    """The schema is not a JSON Schema, or it is too large or refers to other documents. No ask was opened."""

    next_step = "Correct the schema, or ask without it."


class DecisionNotAllowedError(InvalidRequestError):
    """The approval does not permit this decision. The ask stays pending."""

    next_step = "Choose one of its `allowedDecisions`."


class ConflictError(SaysoError):
    """The resource is in a state that does not permit the call."""

    next_step = "Read the resource again before you decide."


class DedupeKeyReusedError(ConflictError):
    """An ask with this key is open and asks for something else."""

    next_step = "Use a key that is unique to the call, for example run id and tool call id."


class OutcomeTakenError(ConflictError):
    """Another program with this token has taken the approval. An approval is used once."""

    next_step = "Do not call the tool: the other program does. Repeat a run in one program at a time."


class AlreadyResolvedError(ConflictError):
    """The ask already has an outcome."""

    next_step = "Use the outcome in `outcome`."

    @property
    def outcome(self) -> Outcome | None:
        """The outcome that was stored first."""
        return self.problem.get("outcome")

    @property
    def own(self) -> bool:
        """Whether an earlier call with this token decided the ask."""
        return self.problem.get("own") is True


class GroupNotReadyError(ConflictError):
    """The group is pending, claimed by a worker, or waits for a person's decision."""

    next_step = "Wait until it is ready: client.groups.ready(name, wait=30)."


class GroupEndedError(ConflictError):
    """The group was resumed, withdrawn or given up."""

    next_step = "Do not resume the run; read its `status`."


class ClaimLostError(ConflictError):
    """The lease of the claim expired, or another worker has the group."""

    next_step = "Stop the run. Renew the lease in time, or take a longer one."


class StateUnreadableError(ConflictError):
    """The stored state was changed, or the server has another key."""

    next_step = "Restore state.key of the server's data directory, or start the run anew."


class StateError(SaysoError):
    """A run cannot be suspended or resumed by this adapter. It was not resumed, so no tool was called."""

    next_step = "Resume it with the same version of the adapter that suspended it."


class UnknownCallbackError(InvalidRequestError):
    """No callback target of this name is configured."""

    next_step = "Ask an admin to add [callbacks.NAME] to config.toml."


class RateLimitedError(SaysoError):
    """Too many calls, or too much stored text, in a short time."""

    next_step = "Try again in a few minutes."


class QuestionRejectedError(SaysoError):
    """There is no answer: a person, the policy or a timeout rejected the question, or it was withdrawn.

    `message` is written for the model: return it as the result of the tool call.
    """

    next_step = "Continue without an answer, or ask differently."

    def __init__(self, message: str, *, status: str, stop: bool, ask_id: str) -> None:
        super().__init__(message, code=status)
        #: Whether the person told the agent to stop.
        self.stop = stop
        self.ask_id = ask_id


class SecretLostError(SaysoError):
    """The secret answer was already returned once. If that reply was lost, ask again."""

    next_step = "Ask again."


BY_CODE: dict[str, type[SaysoError]] = {
    "ask_already_resolved": AlreadyResolvedError,
    "invalid_answers": InvalidAnswersError,
    "invalid_input": InvalidInputError,
    "invalid_schema": InvalidSchemaError,
    "decision_not_allowed": DecisionNotAllowedError,
    "dedupe_key_reused": DedupeKeyReusedError,
    "outcome_taken": OutcomeTakenError,
    "group_not_ready": GroupNotReadyError,
    "group_ended": GroupEndedError,
    "claim_lost": ClaimLostError,
    "state_unreadable": StateUnreadableError,
    "unknown_callback": UnknownCallbackError,
}

BY_STATUS: dict[int, type[SaysoError]] = {
    400: InvalidRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: ServerTooOldError,
    409: ConflictError,
    413: InvalidRequestError,
    421: ForbiddenError,
    422: InvalidRequestError,
    429: RateLimitedError,
}


def error_of(status: int, body: Any) -> SaysoError:
    """The error of a reply. A proxy may have sent the reply, so the body can be anything."""
    problem: dict[str, Any] = body if isinstance(body, dict) else {}
    code = str(problem.get("code", ""))
    detail = str(problem.get("detail") or f"The server replied with HTTP {status}")
    kind = BY_CODE.get(code) or BY_STATUS.get(status, SaysoError)
    # A route of a later version. Ids that are not found have codes of their own.
    if status == 404 and detail.startswith("no such route"):
        kind = ServerTooOldError
    # The server refuses requests with unknown fields, so it never ignores a field of a later version.
    if code == "invalid_request" and "unknown field" in detail:
        kind = ServerTooOldError
    return kind(detail, code=code, status=status, problem=problem)
