import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { en as card } from "@sayso/react";
import { expect, it } from "vitest";
import { en } from "./en";
import zh from "./zh-CN.json";

const paramsIn = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();

it("has the same keys and parameters in both languages", () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  for (const [key, text] of Object.entries(en))
    expect([key, paramsIn(zh[key as keyof typeof en])]).toEqual([key, paramsIn(text)]);
});

it("shares no key with the card but button.send, and has no unused keys", () => {
  const shared = Object.keys(en).filter((key) => key in card);
  expect(shared).toEqual(["button.send"]);
  const source = sources(join(import.meta.dirname, "..")).join("\n");
  const stems = Object.keys(en).map((key) => key.replace(/_(one|other)$/, ""));
  const unused = stems.filter(
    (stem) => !source.includes(`"${stem}"`) && !source.includes(`\`${stem.slice(0, stem.lastIndexOf(".") + 1)}$`),
  );
  expect(unused).toEqual([]);
});

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !path.includes("i18n") ? [readFileSync(path, "utf8")] : [];
  });
}
