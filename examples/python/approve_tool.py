"""Asks before a function runs. A program that is killed while it waits, and started again, continues its ask."""

import asyncio

import sayso


async def send_email(to: str, text: str, *, run: str) -> str:
    arguments = {"to": to, "text": text}
    key = f"{run}:send_email"
    decision = await sayso.approve("send_email", arguments, key=key, editable=True, summary=f"Mail to {to}")
    if not decision:
        return f"not sent: {decision.message}"
    arguments = decision.input or arguments
    return f"sent to {arguments['to']}"


print(asyncio.run(send_email("ada@example.com", "The build is green.", run="nightly-42")))
