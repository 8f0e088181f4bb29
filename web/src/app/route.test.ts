import { expect, it } from "vitest";
import { readLoginCode } from "../api/token";
import { hrefOf, type Route, readRoute } from "./route";

const routes: Route[] = [
  { page: "inbox" },
  { page: "inbox", ask: "ask_1" },
  { page: "sessions" },
  { page: "session", id: "ses_1", tab: "transcript" },
  { page: "session", id: "ses_1", tab: "events" },
  { page: "runs" },
  { page: "runs", run: "run_1" },
  { page: "history" },
  { page: "settings", section: "tokens" },
  { page: "settings", section: "policy", rule: "rule 3 (user) & more/?#" },
];

it.each(routes)("finds back to %j", (route) => expect(readRoute(hrefOf(route))).toEqual(route));

it("opens the inbox for unknown addresses", () => {
  expect(["", "#", "#/nowhere", "#code=1"].map(readRoute)).toEqual(Array(4).fill({ page: "inbox" }));
});

it("removes the login code from the address", () => {
  const kept: string[] = [];
  const history = { replaceState: (_: unknown, __: string, to: string) => kept.push(to) } as unknown as History;
  const location = (hash: string) => ({ hash, pathname: "/" }) as Location;
  expect([readLoginCode(location("#code=a%2Bb"), history), readLoginCode(location("#/inbox"), history), kept]).toEqual([
    "a+b",
    undefined,
    ["/"],
  ]);
});
