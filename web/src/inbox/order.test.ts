import type { Ask } from "@sayso/react";
import { describe, expect, it } from "vitest";
import { anApproval, anAsk } from "../../../sdk/react/src/test/asks";
import { type Entry, identicalAsks, matches, ordered, place, projectsOf } from "./order";

const opened = (minute: number) => `2026-11-15T14:${String(minute).padStart(2, "0")}:00Z`;
const ask = (id: string, change: Partial<Ask> = {}): Ask => anAsk({ id, openedAt: opened(0), ...change });
const now = Date.parse(opened(30));
const ids = (entries: Entry[]) => entries.map((entry) => entry.id);

describe("the order of the inbox", () => {
  it("sorts by deadline, then blocking, then age, with parked and snoozed last", () => {
    const asks = [
      ask("snoozed", { snoozedUntil: opened(50) }),
      ask("parked", { reach: "parked" }),
      ask("canWait", { blocking: false }),
      ask("young", { openedAt: opened(9) }),
      ask("old", { openedAt: opened(1) }),
      ask("later", { deadlineAt: opened(45) }),
      ask("soon", { deadlineAt: opened(40) }),
      ask("back", { openedAt: opened(5), snoozedUntil: opened(20) }),
    ];
    expect(ordered(asks, now)).toEqual([
      { id: "soon", group: "soon" },
      { id: "later", group: "soon" },
      { id: "old", group: "waiting" },
      { id: "back", group: "waiting" },
      { id: "young", group: "waiting" },
      { id: "canWait", group: "canWait" },
      { id: "parked", group: "parked" },
      { id: "snoozed", group: "snoozed" },
    ]);
  });
});

describe("the next list", () => {
  const entries = (...names: string[]): Entry[] => names.map((id) => ({ id, group: "waiting" }));

  it("accepts all asks when the list is empty", () => {
    expect(place([], entries("a", "b"), undefined, false)).toEqual({ shown: entries("a", "b"), hidden: 0 });
  });

  it("inserts new asks below the cursor", () => {
    const { shown, hidden } = place(entries("a", "c"), entries("a", "b", "c", "d"), "a", false);
    expect([ids(shown), hidden]).toEqual([["a", "b", "c", "d"], 0]);
  });

  it("holds back new asks that would move the row under the cursor or the pointer", () => {
    expect(place(entries("b"), entries("a", "b"), "b", false)).toEqual({ shown: entries("b"), hidden: 1 });
    expect(place(entries("a"), entries("a", "b"), "a", true)).toEqual({ shown: entries("a"), hidden: 1 });
  });

  it("keeps a decided row while the cursor is on it", () => {
    expect(ids(place(entries("a", "b"), entries("b"), "a", false).shown)).toEqual(["a", "b"]);
    expect(ids(place(entries("a", "b"), entries("b"), "b", false).shown)).toEqual(["b"]);
  });

  it("moves a row that was snoozed", () => {
    const wanted: Entry[] = [...entries("b"), { id: "a", group: "snoozed" }];
    expect(place(entries("a", "b"), wanted, "a", true)).toEqual({ shown: wanted, hidden: 0 });
  });

  it("starts again when no shown row is left", () => {
    expect(place(entries("a"), entries("b"), undefined, true)).toEqual({ shown: entries("b"), hidden: 0 });
  });
});

describe("identical approvals", () => {
  it("are approvals of the same input in the same project", () => {
    const twin = (id: string, command: string, project = "/p") => ({
      ...anApproval({ command, input: { command } }),
      id,
      project,
    });
    const asks = [twin("a", "ls"), twin("b", "ls"), twin("c", "ls -l"), twin("d", "ls", "/q"), anAsk({ id: "e" })];
    expect(asks.map((one) => identicalAsks(one, asks).map((other) => other.id))).toEqual([
      ["a", "b"],
      ["a", "b"],
      ["c"],
      ["d"],
      [],
    ]);
  });
});

it("finds asks by any of their texts", () => {
  expect(["WHICH data", "shop-api", "claude", "feat/", "nothing"].map((text) => matches(anAsk(), text))).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
});

it("counts the asks of each project, most asks first, then by path", () => {
  const asks = ["/b", "/c", "/a", "/c", undefined].map((project, n) => ask(String(n), { project: project ?? null }));
  expect(projectsOf(asks)).toEqual([
    { path: "/c", name: "c", count: 2 },
    { path: "/a", name: "a", count: 1 },
    { path: "/b", name: "b", count: 1 },
  ]);
});

it("chips of projects with the same name show their parent directories", () => {
  const asks = ["/home/work/shop", "/home/fork/shop/", "/home/work/web"].map((project, n) => ask(`${n}`, { project }));
  expect(projectsOf(asks).map(({ name }) => name)).toEqual(["fork/shop", "work/shop", "web"]);
});
