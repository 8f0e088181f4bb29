import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { elect } from "./election";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("navigator", {});
  localStorage.clear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("elects one leader without Web Locks, and another one after it leaves", () => {
  const log: string[] = [];
  const join = (name: string) =>
    elect(name, () => {
      log.push(`${name} leads`);
      return () => log.push(`${name} resigns`);
    });
  const first = join("a");
  const second = join("b");
  vi.advanceTimersByTime(20_000);
  expect(log).toEqual(["a leads"]);
  first.stop();
  vi.advanceTimersByTime(2000);
  expect(log).toEqual(["a leads", "a resigns", "b leads"]);
  second.stop();
});

it("takes over from a leader that crashed", () => {
  localStorage.setItem("sayso.leader", JSON.stringify({ id: "dead", until: Date.now() + 5000 }));
  const lead = vi.fn(() => () => {});
  const election = elect("b", lead);
  vi.advanceTimersByTime(4000);
  expect(lead).not.toHaveBeenCalled();
  vi.advanceTimersByTime(3000);
  expect(lead).toHaveBeenCalledOnce();
  election.stop();
});
