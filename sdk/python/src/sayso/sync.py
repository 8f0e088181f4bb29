"""The functions of `sayso` for code without coroutines.

from sayso import sync

database = sync.ask("Which database?", options=["SQLite", "PostgreSQL"])
"""

from __future__ import annotations

from .client import Sayso

_client = Sayso()

ask = _client.ask
ask_all = _client.ask_all
select = _client.select
confirm = _client.confirm
approve = _client.approve
notify = _client.notify
