"""The functions of `sayso`, on the server and the agent token of this machine."""

from __future__ import annotations

from .client import AsyncSayso

_client = AsyncSayso()


def client() -> AsyncSayso:
    """The client that adapters use unless they get another one."""
    return _client


ask = _client.ask
ask_all = _client.ask_all
select = _client.select
confirm = _client.confirm
approve = _client.approve
notify = _client.notify
