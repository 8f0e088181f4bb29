"""A scripted Anthropic model on the loopback interface, for Claude Code: the Messages API, streamed."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Calls of one turn: name, arguments and id.
Call = tuple[str, dict[str, Any], str]


class Model:
    """Calls the tools of each turn, then says `done`. The turn is the number of messages with results of tools."""

    def __init__(self, *turns: list[Call]) -> None:
        self.turns = turns
        self.url = ""
        self._results: dict[str, str] = {}

    @property
    def read(self) -> list[str]:
        """The results of tools that the model got."""
        return list(self._results.values())

    def blocks(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        if not body.get("tools"):
            # Claude Code also asks for a title of the session.
            return [{"type": "text", "text": "title"}]
        turn = 0
        for message in body["messages"]:
            parts = message["content"] if isinstance(message["content"], list) else []
            results = [part for part in parts if part.get("type") == "tool_result"]
            turn += bool(results)
            for result in results:
                self._results[result["tool_use_id"]] = _text(result["content"])
        if turn >= len(self.turns):
            return [{"type": "text", "text": "done"}]
        return [{"type": "tool_use", "id": id, "name": name, "input": given} for name, given, id in self.turns[turn]]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _events(blocks: list[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


@contextlib.contextmanager
def serve(model: Model) -> Iterator[Model]:
    """Serves the model at `model.url`."""
    numbers = itertools.count()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None: ...

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        do_GET = do_HEAD

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "count_tokens" in self.path:
                content, kind = b'{"input_tokens": 100}', "application/json"
            else:
                events = _events(model.blocks(body), next(numbers))
                kind = "text/event-stream"
                content = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{listener.server_address[1]}"
    try:
        yield model
    finally:
        listener.shutdown()
        listener.server_close()


def environment(model: Model, home: str) -> dict[str, str]:
    """The variables of Claude Code for this model. Its home is private, so it finds no credentials."""
    return {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "dummy-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
