"""Ask a person from Python.

    import sayso

    database = await sayso.ask("Which database?", options=["SQLite", "PostgreSQL"])
    decision = await sayso.approve("send_email", {"to": "ada@example.com"}, key="run-1:call-1")

`sayso.sync` has the same functions for code without coroutines. `AsyncSayso` and `Sayso` are clients for a server or a
token of your choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import sync as sync
    from . import types as types
    from ._default import approve as approve
    from ._default import ask as ask
    from ._default import ask_all as ask_all
    from ._default import confirm as confirm
    from ._default import notify as notify
    from ._default import select as select
    from ._resumer import resume_all as resume_all
    from ._resumer import resumer as resumer
    from .client import AsyncSayso as AsyncSayso
    from .client import Sayso as Sayso
    from .errors import AlreadyResolvedError as AlreadyResolvedError
    from .errors import ClaimLostError as ClaimLostError
    from .errors import ConflictError as ConflictError
    from .errors import DecisionNotAllowedError as DecisionNotAllowedError
    from .errors import DedupeKeyReusedError as DedupeKeyReusedError
    from .errors import ForbiddenError as ForbiddenError
    from .errors import GroupEndedError as GroupEndedError
    from .errors import GroupNotReadyError as GroupNotReadyError
    from .errors import InvalidAnswersError as InvalidAnswersError
    from .errors import InvalidInputError as InvalidInputError
    from .errors import InvalidRequestError as InvalidRequestError
    from .errors import InvalidSchemaError as InvalidSchemaError
    from .errors import NoServerError as NoServerError
    from .errors import NotFoundError as NotFoundError
    from .errors import NoTokenError as NoTokenError
    from .errors import OutcomeTakenError as OutcomeTakenError
    from .errors import QuestionRejectedError as QuestionRejectedError
    from .errors import RateLimitedError as RateLimitedError
    from .errors import SaysoError as SaysoError
    from .errors import SecretLostError as SecretLostError
    from .errors import ServerTooOldError as ServerTooOldError
    from .errors import ServerUnreachableError as ServerUnreachableError
    from .errors import StateError as StateError
    from .errors import StateUnreadableError as StateUnreadableError
    from .errors import UnauthorizedError as UnauthorizedError
    from .errors import UnknownCallbackError as UnknownCallbackError
    from .results import Answer as Answer
    from .results import Claim as Claim
    from .results import Decision as Decision

# Modules are imported when they are first used, so that `import sayso` costs a program nothing until it asks.
_MODULES = {
    "_default": ("approve", "ask", "ask_all", "confirm", "notify", "select"),
    "client": ("AsyncSayso", "Sayso"),
    "errors": (
        "AlreadyResolvedError",
        "ClaimLostError",
        "GroupEndedError",
        "GroupNotReadyError",
        "StateError",
        "StateUnreadableError",
        "UnknownCallbackError",
        "ConflictError",
        "DecisionNotAllowedError",
        "DedupeKeyReusedError",
        "ForbiddenError",
        "InvalidAnswersError",
        "InvalidInputError",
        "InvalidRequestError",
        "InvalidSchemaError",
        "NoServerError",
        "NoTokenError",
        "NotFoundError",
        "OutcomeTakenError",
        "QuestionRejectedError",
        "RateLimitedError",
        "SaysoError",
        "SecretLostError",
        "ServerTooOldError",
        "ServerUnreachableError",
        "UnauthorizedError",
    ),
    "results": ("Answer", "Claim", "Decision"),
    "_resumer": ("resume_all", "resumer"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [*_PLACES, "sync", "types"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("sync", "types"):
        return import_module(f"{__name__}.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
