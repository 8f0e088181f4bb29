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

from ._adapter import ToolNames, approval, approve, client_or_default, schema_of
from .client import AsyncSayso


class SaysoPlugin(BasePlugin):
    """Asks a person before a tool is called."""

    def __init__(
        self,
        tools: Collection[str] | None = None,
        *,
        run_key: str | None = None,
        client: AsyncSayso | None = None,
        editable: bool = True,
    ) -> None:
        """`tools` are the names of the tools that need an approval; without it, all of them do.

        `run_key` makes a restarted program continue its asks. By default it is the id of the session.
        """
        super().__init__(name="sayso")
        self._tools = ToolNames(tools)
        self._run_key = run_key
        self._client = client_or_default(client)
        self._editable = editable
        #: The edited arguments of the calls that run now.
        self._edited: dict[tuple[str, str], dict[str, Any]] = {}

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Called by the framework. Returns `None` to run the tool, or its result if the call was denied."""
        if tool.name not in self._tools:
            return None
        session, call_id = tool_context.session.id, tool_context.function_call_id
        schema = schema_of(lambda: _arguments_of(tool))
        ask = approval(tool.name, dict(tool_args), call_id, editable=self._editable, input_schema=schema)
        decision = await approve(self._client, ask, f"{self._run_key or session}:{call_id}")
        if not decision:
            return {"error": decision.message}
        if decision.input is not None:
            self._edited[session, call_id] = decision.input
            tool_args.clear()
            tool_args.update(decision.input)
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> dict[str, Any] | None:
        """Called by the framework. Adds edited arguments to the result, because the recorded call keeps the original
        ones."""
        edited = self._edited.pop((tool_context.session.id, tool_context.function_call_id), None)
        if edited is None:
            return None
        values = result if isinstance(result, dict) else {"result": result}
        return {**values, "arguments_changed_by_user": edited}


def _arguments_of(tool: Any) -> Any:
    declaration = tool._get_declaration()
    if declaration.parameters_json_schema is not None:
        return declaration.parameters_json_schema
    return declaration.parameters.json_schema.model_dump(mode="json", exclude_none=True, by_alias=True)
