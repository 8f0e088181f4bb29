import { describe, expect, it } from "vitest";
import { anApproval, anAsk, areas, database } from "../test/asks";
import { translator } from "../words";
import { readDiff, statOf } from "./diff";
import { pieces, plain, webAddress } from "./invisible";
import { age, countdown, spanWords } from "./time";
import { stateOf, titleOf } from "./view";

const t = translator();

describe("invisible characters", () => {
  it("are shown as codes, one by one", () => {
    expect(pieces("rm\u200b -rf\u202e x\u001b[0m")).toEqual([
      { text: "rm" },
      { code: "U+200B" },
      { text: " -rf" },
      { code: "U+202E" },
      { text: " x" },
      { code: "U+001B" },
      { text: "[0m" },
    ]);
  });

  it("are not found in ordinary text, line breaks and other scripts", () => {
    const text = "Größe 数据库\r\n\tمرحبا 👩";
    expect(pieces(text)).toEqual([{ text }]);
  });

  it("are found where a carriage return, a tag or a lone surrogate hides", () => {
    expect(plain("a\rb\u{e0041}\ud800")).toBe("a[U+000D]b[U+E0041][U+D800]");
  });
});

describe("an address that can be opened", () => {
  it("is split at its host", () => {
    expect(webAddress("https://github.com/login?x=1")).toEqual({
      before: "https://",
      host: "github.com",
      after: "/login?x=1",
    });
    expect(webAddress("https://github.com@evil.example/")?.host).toBe("evil.example");
  });

  it.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    " https://a.b",
    "https://a\u200b.b",
    "//a.b",
    "https:\\\\a.b",
  ])("is not %j", (address) => expect(webAddress(address)).toBeUndefined());
});

describe("a diff", () => {
  const text = "--- a/x\n+++ b/x\n@@ -4,3 +4,3 @@ fn\n same\n-let a = 1;\n+let b = 1;\n\\ No newline at end of file\n";

  it("has line numbers, and marks the changed parts of a line", () => {
    expect(readDiff(text)).toEqual([
      { kind: "hunk", text: "@@ -4,3 +4,3 @@ fn" },
      { kind: "same", old: 4, now: 4, text: "same" },
      { kind: "del", old: 5, text: "let a = 1;", mark: { from: 4, to: 5 } },
      { kind: "add", now: 5, text: "let b = 1;", mark: { from: 4, to: 5 } },
      { kind: "hunk", text: "\\ No newline at end of file" },
    ]);
  });

  it("counts added and removed lines, and keeps unknown lines", () => {
    expect(statOf(readDiff(text))).toEqual({ added: 1, removed: 1 });
    expect(readDiff("Binary files differ")).toEqual([{ kind: "hunk", text: "Binary files differ" }]);
  });
});

describe("time", () => {
  it("is shown in one unit", () => {
    expect([5_000, 42_000, 61_000, 7_200_000, 172_800_000].map((ms) => age(t, ms))).toEqual([
      "now",
      "42 s",
      "1 min",
      "2 h",
      "2 d",
    ]);
  });

  it("counts down and stops at zero", () => {
    expect([221_000, 3_729_000, -5].map(countdown)).toEqual(["3:41", "1:02:09", "0:00"]);
  });

  it("reads the server's durations", () => {
    expect(["10m", "1h 30m", "soon"].map((span) => spanWords(t, span))).toEqual(["10 min", "1 h 30 min", "soon"]);
  });
});

describe("the state of a card", () => {
  const by = { kind: "person" };
  const at = "2026-11-15T14:00:00Z";
  it.each([
    [anAsk(), "pending"],
    [anAsk({ reach: "parked" }), "parked"],
    [anAsk({ snoozedUntil: "2999-01-01T00:00:00Z" }), "snoozed"],
    [anAsk({ snoozedUntil: "2000-01-01T00:00:00Z" }), "pending"],
    [anAsk({ status: "answered", outcome: { status: "answered", by, at }, delivery: "delivered" }), "answered"],
    [anAsk({ status: "answered", outcome: { status: "answered", by, at }, delivery: "undeliverable" }), "undelivered"],
    [anAsk({ status: "approved" }), "answered"],
    [anAsk({ status: "rejected" }), "rejected"],
    [anAsk({ status: "denied" }), "rejected"],
    [anAsk({ status: "withdrawn" }), "withdrawn"],
  ])("of case %#", (ask, state) => expect(stateOf(ask, undefined, Date.now())).toBe(state));

  it("is never sending once it is decided", () => {
    const held = { phase: "held" as const, decision: { kind: "approve" as const }, label: "", until: 0 };
    expect(stateOf(anAsk(), held, 0)).toBe("sending");
    expect(stateOf(anAsk({ status: "answered" }), held, 0)).toBe("answered");
  });
});

describe("the title of an ask", () => {
  it("is the command as code, the question, or the headers of a set", () => {
    expect(titleOf(anApproval())).toEqual({ text: "cargo test --workspace", code: true });
    expect(titleOf(anAsk())).toEqual({ text: "Which database?", code: false });
    expect(titleOf(anAsk({ questions: [database, areas] }))).toEqual({ text: "Database, Areas", code: false });
  });
});
