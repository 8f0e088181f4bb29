import { ConnectionError, NotFoundError } from "@sayso/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Queries } from "./queries";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/** Replies to requests in the order in which a test completes them. */
function requests() {
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  const read = () => new Promise<unknown>((resolve, reject) => waiting.push({ resolve, reject }));
  const next = () => waiting.shift() ?? expect.fail("no request waits");
  return { read, next, waiting };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

test("two observers of one key share one request and its response", async () => {
  const queries = new Queries();
  const { read, next, waiting } = requests();
  const changes: string[] = [];
  queries.observe(["runs"], read, 5_000, () => changes.push("a"));
  queries.observe(["runs"], read, 5_000, () => changes.push("b"));
  next().resolve([1]);
  await settle();
  expect([queries.state(["runs"]), changes, waiting]).toEqual([{ data: [1] }, ["a", "b"], []]);
});

test("a response is fetched again when it is older than the observer allows", async () => {
  const queries = new Queries();
  const { read, next, waiting } = requests();
  const stop = queries.observe(["runs"], read, 5_000, () => {});
  next().resolve([1]);
  await settle();
  stop();
  vi.setSystemTime(1_004_999);
  queries.observe(["runs"], read, 5_000, () => {})();
  expect(waiting).toHaveLength(0);
  vi.setSystemTime(1_005_000);
  queries.observe(["runs"], read, 5_000, () => {})();
  expect(waiting).toHaveLength(1);
});

test("a response without a maximum age is fetched once, and again after invalidation", async () => {
  const queries = new Queries();
  const { read, next, waiting } = requests();
  const stop = queries.observe(["policyForm", "text"], read, Number.POSITIVE_INFINITY, () => {});
  next().resolve("form");
  await settle();
  stop();
  queries.observe(["policyForm", "text"], read, Number.POSITIVE_INFINITY, () => {})();
  expect(waiting).toHaveLength(0);
  queries.invalidate(["policyForm"]);
  queries.observe(["policyForm", "text"], read, Number.POSITIVE_INFINITY, () => {});
  next().resolve("new");
  await settle();
  expect(queries.state(["policyForm", "text"])).toEqual({ data: "new" });
});

test("a response that is invalidated during its fetch is fetched again", async () => {
  const queries = new Queries();
  const { read, next, waiting } = requests();
  queries.observe(["runs", "run_1"], read, 5_000, () => {});
  queries.invalidate(["runs"]);
  queries.invalidate(["policy"]);
  next().resolve("old");
  await settle();
  next().resolve("new");
  await settle();
  expect([queries.state(["runs", "run_1"]), waiting]).toEqual([{ data: "new" }, []]);
});

test("an equal response keeps its identity and notifies no observer", async () => {
  const queries = new Queries();
  const { read, next } = requests();
  let changes = 0;
  queries.observe(["runs"], read, 5_000, () => changes++);
  next().resolve([{ id: 1 }]);
  await settle();
  const before = queries.state(["runs"]);
  void queries.refetch(["runs"]);
  next().resolve([{ id: 1 }]);
  await settle();
  expect(queries.state(["runs"])).toBe(before);
  expect(changes).toBe(1);
});

test("a request without a response is repeated once, and a refusal is not", async () => {
  const queries = new Queries();
  const { read, next, waiting } = requests();
  const lost = new ConnectionError("No reply.", undefined);
  const unknown = new NotFoundError("not_found", "No such run.", 404);
  queries.observe(["runs"], read, 5_000, () => {});
  next().reject(lost);
  await vi.advanceTimersByTimeAsync(1_000);
  next().reject(unknown);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([queries.state(["runs"]), waiting]).toEqual([{ data: undefined, error: unknown }, []]);
});

test("a failure keeps the last data, and is fetched again when the page becomes visible", async () => {
  const queries = new Queries();
  const { read, next } = requests();
  queries.observe(["runs"], read, 5_000, () => {});
  next().resolve([1]);
  await settle();
  void queries.refetch(["runs"]);
  const refusal = new NotFoundError("not_found", "No such run.", 404);
  next().reject(refusal);
  await settle();
  expect(queries.state(["runs"])).toEqual({ data: [1], error: refusal });
  queries.refresh(5_000);
  next().resolve([2]);
  await settle();
  expect(queries.state(["runs"])).toEqual({ data: [2] });
});

test("an unused response is dropped after five minutes", async () => {
  const queries = new Queries();
  queries.set(["policyForm", "text"], "form");
  await vi.advanceTimersByTimeAsync(299_999);
  expect(queries.state(["policyForm", "text"])).toEqual({ data: "form" });
  await vi.advanceTimersByTimeAsync(1);
  expect(queries.state(["policyForm", "text"])).toEqual({});
});
