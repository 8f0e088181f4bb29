"""Approvals for the [Agent Development Kit](https://google.github.io/adk-docs) of Google.

    from google.adk.apps import App
    from sayso.adk import SaysoPlugin

    app = App(name="mailer", root_agent=agent, plugins=[SaysoPlugin(tools=["send_email"])])

The plugin covers the tools of all agents of the app.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin

from ._adapter import ToolNames, client_or_default
from .client import AsyncSayso


class SaysoPlugin(BasePlugin):
    """Asks a person before a tool is called."""

    def __init__(
        self, tools: Collection[str] | None = None, *, client: AsyncSayso | None = None, editable: bool = True
    ) -> None:
        """`tools` are the names of the tools that need an approval; without it, all of them do."""
        super().__init__(name="sayso")
        self._tools = ToolNames(tools)
        self._client = client_or_default(client)
        self._editable = editable

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Called by the framework. Returns `None` to run the tool, or its result if the call was denied."""
        if tool.name not in self._tools:
            return None
        call_id = tool_context.function_call_id
        decision = await self._client.approve(
            tool.name,
            dict(tool_args),
            key=f"{tool_context.session.id}:{call_id}",
            editable=self._editable,
            tool_call_id=call_id,
        )
        if not decision:
            return {"error": decision.message}
        if decision.input is not None:
            tool_args.clear()
            tool_args.update(decision.input)
        return None
