import type { Ask } from "@sayso/react";
import { describe, expect, it } from "vitest";
import type { Run, Session, Token } from "../api/client";
import { findPlaces, placesOf } from "./places";

const ask = (id: string, command: string): Ask =>
  ({
    id,
    kind: "approval",
    agent: "codex",
    project: "/home/ada/shop",
    branch: "main",
    title: command,
    approval: { action: "run", command, tool: "Bash", title: command },
  }) as unknown as Ask;

const places = placesOf({
  asks: [ask("a1", "make test"), ask("a2", "test it"), ...[3, 4, 5, 6, 7, 8].map((n) => ask(`a${n}`, `ls ${n}`))],
  sessions: [{ id: "s1", title: "Fix tests", agent: "claude", cwd: "/home/ada/api" } as Session],
  runs: [{ id: "r1", workflow: "release", status: "running" } as Run],
  tokens: [
    { id: "t1", actor: "ada", role: "answerer", device: "Chrome Android" } as Token,
    { id: "t2", actor: "ada", role: "admin", device: "Old phone", revokedAt: "2026-01-01T00:00:00Z" } as Token,
    { id: "t3", actor: "ci", role: "agent" } as Token,
  ],
  mayAnswer: true,
  isAdmin: true,
  t: (key) => key,
});
const found = (query: string) => findPlaces(places, query).map(({ id }) => id);

describe("the palette", () => {
  it("shows a few targets per group and all pages without a query", () => {
    expect(found("")).toEqual([
      ...["a1", "a2", "a3", "a4", "a5", "a6", "s1", "r1", "t1"],
      ...["#/inbox", "#/sessions", "#/runs", "#/history"],
      ...["#/settings/policy", "#/settings/agents", "#/settings/tokens", "#/settings/notifications", "#/settings/page"],
      ...["new", "keys"],
    ]);
  });

  it("finds targets that contain all words, in title or detail", () => {
    expect(found("shop make")).toEqual(["a1"]);
    expect(found("codex claude")).toEqual([]);
    expect(found("RELEASE")).toEqual(["r1"]);
  });

  it("sorts titles that start with the query first in their group", () => {
    expect(found("test")).toEqual(["a2", "a1", "s1"]);
  });

  it("lists devices that are signed in, and no other tokens", () => {
    expect(found("phone")).toEqual([]);
    expect(found("android")).toEqual(["t1"]);
  });

  it("offers a new session only with the permission to start one", () => {
    expect(found("newSession")).toEqual(["new"]);
    const viewer = placesOf({
      asks: [],
      sessions: [],
      runs: [],
      tokens: [],
      mayAnswer: false,
      isAdmin: false,
      t: (key) => key,
    });
    expect(findPlaces(viewer, "newSession")).toEqual([]);
  });
});
