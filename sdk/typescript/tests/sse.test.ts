import { expect, it } from "vitest";
import { SseReader } from "../src/sse";

it("reads events from pieces of any size, and skips comments", () => {
  const text =
    ': hello\n\nid: 1\nevent: a\ndata: {"type":"a",\ndata: "at":""}\n\ndata: {"type":"b","at":""}\n\ndata: {"ty';
  for (const size of [1, 3, 7, text.length]) {
    const reader = new SseReader();
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(pieces.flatMap((piece) => [...reader.read(piece)])).toEqual([
      { type: "a", at: "" },
      { type: "b", at: "" },
    ]);
  }
});
