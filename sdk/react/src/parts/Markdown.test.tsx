import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { SaysoProvider } from "../host";
import { Markdown } from "./Markdown";

function show(text: string): HTMLElement {
  const { container } = render(
    <SaysoProvider decide={async () => {}}>
      <Markdown text={text} />
    </SaysoProvider>,
  );
  return container;
}

/** Lists as nested arrays: the marker, the text and the nested items of each item. */
type Item = [string, string, ...Item[]];
function itemsOf(list: Element | null): Item[] {
  return [...(list?.children ?? [])].map((item) => {
    const below = item.querySelector("ol, ul");
    const words = [...item.childNodes].filter((node) => node !== below).map((node) => node.textContent);
    return [item.getAttribute("value") ?? "-", words.join("").trim(), ...itemsOf(below)];
  });
}

describe("Markdown", () => {
  it("keeps the agent's numbers around nested lists", () => {
    const nested = show("1. one\n   - below\n2. two\n");
    expect(itemsOf(nested.querySelector("ol"))).toEqual([
      ["1", "one", ["-", "below"]],
      ["2", "two"],
    ]);
    const inside = show("- a\n  1. x\n  2. y\n");
    expect(itemsOf(inside.querySelector("ul"))).toEqual([["-", "a", ["1", "x"], ["2", "y"]]]);
    const gaps = show("5) five\n7) seven\n");
    expect(itemsOf(gaps.querySelector("ol"))).toEqual([
      ["5", "five"],
      ["7", "seven"],
    ]);
  });

  it("shows tables, link targets, definitions, HTML and comments as text, without links or markup", () => {
    const shown = show(
      "| a | b |\n|---|---|\n| 1 | 2 |\n\n[docs](http://x.y) <b>c</b> <!-- hidden -->\n\n[ref]: http://evil\n\n<script>s</script>",
    );
    expect([...shown.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual(["1", "2"]);
    for (const text of ["docs (http://x.y)", "<b>c</b>", "<!-- hidden -->", "[ref]: http://evil", "<script>s</script>"])
      expect(shown.textContent).toContain(text);
    expect(shown.querySelector("a, b, script, img")).toBeNull();
  });

  it("shows its source on demand if it differs", () => {
    const text = "## Goal\nUse `a` and **b**\n\n```js\n*x*\n```";
    const shown = show(text);
    expect([...shown.querySelectorAll("p, pre")].map((part) => part.textContent)).toEqual([
      "Goal",
      "Use a and b",
      "*x*",
    ]);
    fireEvent.click(screen.getByRole("button", { name: "Show source" }));
    expect(shown.querySelector("pre")?.textContent).toBe(text);
    expect(show("Just words.\nTwo lines.").querySelector("button")).toBeNull();
  });

  it("is shown as source if it is nested too deeply", () => {
    const text = `${">".repeat(20_000)} deep`;
    expect(show(text).textContent).toContain("deep");
  });
});
