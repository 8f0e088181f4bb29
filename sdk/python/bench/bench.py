"""Measures the SDK against a real server: `SAYSO_BIN=… python bench/bench.py`. Prints one JSON object per line, and a
line `missed: …` for each figure above its limit. Exits with 1 if there is one. Use a release build on an idle machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

WAITING = 1000
ROUNDS = 200


#: The largest permitted value of each figure.
LIMITS = {
    "import.median_ms": 60,
    "latency.added_ms": 3,
    "waiting.process_mib": 40,
    "waiting.connections": 1,
    "state.median_ms": 30,
    "resumed.not_once": 0,
}
missed: list[str] = []


def report(name: str, **values: object) -> None:
    print(json.dumps({"bench": f"python/{name}", **values}), flush=True)
    for figure, limit in LIMITS.items():
        kind, _, field = figure.partition(".")
        if kind == name and float(str(values[field])) > limit:
            missed.append(figure)
            print(f"missed: {figure} is {values[field]}, the limit is {limit}", flush=True)


def resident_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def sockets_of(port: int) -> int:
    """Established TCP connections of this process to the server."""
    inodes = set()
    for fd in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(fd)
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return sum(fields[9] in inodes and fields[2].endswith(f":{port:04X}") and fields[3] == "01" for fields in lines)


def import_time() -> None:
    code = "import time; s = time.perf_counter(); import sayso; print((time.perf_counter() - s) * 1000)"
    command = [sys.executable, "-c", code]
    runs = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(10)]
    report("import", median_ms=round(statistics.median(runs), 2), worst_ms=round(max(runs), 2))


def added_latency(person: object) -> None:
    """One ask that a person approves at once, through the SDK and as raw calls. The raw program holds a call open until
    the ask is decided, on a kept connection."""
    import httpx

    server = person.server  # type: ignore[attr-defined]
    client = person.async_client()  # type: ignore[attr-defined]
    ask = {
        "approval": {"tool": "t", "action": "other", "input": {}, "editable": False},
        "keep": "1h",
        "agent": "latency",
    }
    ended = threading.Event()

    def approve() -> None:
        """Approves each ask as soon as its event arrives."""
        from sayso import Sayso

        admin = Sayso(url=server.url, token=server.admin_token)
        for event in admin.events():
            if ended.is_set():
                return
            if event["type"] == "approval.requested":
                admin.asks.approve(event["data"]["id"])

    threading.Thread(target=approve, daemon=True).start()
    time.sleep(1)

    async def sdk() -> list[float]:
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            await client.approve("t", {})
            times.append((time.perf_counter() - start) * 1000)
        return times

    async def raw() -> list[float]:
        times = []
        headers = {"Authorization": f"Bearer {person.token}"}  # type: ignore[attr-defined]
        async with httpx.AsyncClient(headers=headers, base_url=server.url, trust_env=False, timeout=60) as http:
            for _ in range(ROUNDS):
                start = time.perf_counter()
                opened = (await http.post("/v1/asks", json=ask)).json()
                await http.get(f"/v1/asks/{opened['id']}?wait=30s")
                await http.post(f"/v1/asks/{opened['id']}/receipt")
                times.append((time.perf_counter() - start) * 1000)
        return times

    asyncio.run(sdk())
    time.sleep(15)  # The rate limit of the token fills again.
    with_sdk = statistics.median(asyncio.run(sdk()))
    time.sleep(15)
    without = statistics.median(asyncio.run(raw()))
    ended.set()
    report("latency", sdk_ms=round(with_sdk, 2), raw_ms=round(without, 2), added_ms=round(with_sdk - without, 2))


def waiting_asks(person: object) -> None:
    from world import until

    server = person.server  # type: ignore[attr-defined]
    client = person.async_client()  # type: ignore[attr-defined]

    async def wait_for_all() -> int:
        before = resident_mib()
        tasks = [asyncio.ensure_future(client.ask(f"Number {number}?")) for number in range(WAITING)]
        await asyncio.to_thread(until, "all asks are pending", lambda: pending(server) == WAITING, 60.0)
        await asyncio.sleep(5)
        port = int(server.url.rsplit(":", 1)[1])
        report(
            "waiting",
            asks=WAITING,
            process_mib=round(resident_mib(), 1),
            added_mib=round(resident_mib() - before, 1),
            connections=sockets_of(port),
        )
        answering = threading.Thread(target=lambda: answer_all(server))
        start = time.perf_counter()
        answering.start()
        await asyncio.gather(*tasks)
        report("answered", asks=WAITING, seconds=round(time.perf_counter() - start, 1))
        return 0

    asyncio.run(wait_for_all())


def suspended_states(person: object) -> None:
    """A state of 1 MiB, stored and claimed. The policy decides the ask, so no person is needed."""
    client = person.client()  # type: ignore[attr-defined]
    state = os.urandom(512 * 1024).hex()
    ask = {"approval": {"tool": "t", "action": "other", "input": {}}}
    times = []
    for number in range(20):
        start = time.perf_counter()
        group = client.groups.open("bench", [ask], key=f"state-{number}", state=state)
        claim = client.groups.claim(group_id=group["id"], worker="bench")
        times.append((time.perf_counter() - start) * 1000)
        assert claim is not None and claim.state == state
        client.groups.ack(claim)
        time.sleep(1)  # The byte quota of the token fills again.
    report("state", mib=1, median_ms=round(statistics.median(times), 1), worst_ms=round(max(times), 1))


def resumed_groups(server: object, groups: int, workers: int) -> None:
    """Every one of many groups is resumed once by many resumers with one agent token, within its rate limit."""
    from sayso import AsyncSayso, Claim, resume_all

    token, _ = server.agent_token("many")  # type: ignore[attr-defined]
    ask = {"approval": {"tool": "t", "action": "other", "input": {}}}

    async def run() -> None:
        client = AsyncSayso(url=server.url, token=token)  # type: ignore[attr-defined]
        for first in range(0, groups, 100):
            await asyncio.gather(
                *(client.groups.open("many", [ask], key=f"many-{number}") for number in range(first, first + 100))
            )
        resumed: list[str] = []

        async def resume(claim: Claim) -> None:
            resumed.append(claim.group_id)
            if len(resumed) >= groups:
                stop.set()

        stop = asyncio.Event()
        start = time.perf_counter()
        await asyncio.gather(
            *(
                resume_all(resume, "many", client=client, worker=f"worker-{number}", lease=600, stop=stop)
                for number in range(workers)
            )
        )
        seconds = time.perf_counter() - start
        not_once = abs(groups - len(set(resumed))) + len(resumed) - len(set(resumed))
        report("resumed", groups=groups, workers=workers, seconds=round(seconds, 1), not_once=not_once)

    asyncio.run(run())


def pending(server: object) -> int:
    return server.call("GET", "/asks?status=pending&limit=1")["pending"]  # type: ignore[attr-defined]


def answer_all(server: object) -> None:
    while asks := server.call("GET", "/asks?status=pending&limit=500")["data"]:  # type: ignore[attr-defined]
        for ask in asks:
            server.call("POST", f"/asks/{ask['id']}/answer", {"answers": [["yes"]]})  # type: ignore[attr-defined]


def main() -> None:
    from world import Person, Server

    import_time()
    server = Server()
    try:
        secret, token_id = server.agent_token("bench")
        person = Person(server, secret, token_id, "bench")
        waiting_asks(person)
        secret, token_id = server.agent_token("latency")
        added_latency(Person(server, secret, token_id, "latency"))
        server.set_policy('[approvals]\npolicy = "allow"\n')
        secret, token_id = server.agent_token("states")
        suspended_states(Person(server, secret, token_id, "states"))
        resumed_groups(server, 10_000, 100)
    finally:
        server.close()
    sys.exit(1 if missed else 0)


main()
