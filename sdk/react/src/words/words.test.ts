import { expect, it } from "vitest";
import { en, translator, zhCN } from ".";

const holes = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();

it("has every key in both languages, with the same holes", () => {
  expect(Object.keys(zhCN).sort()).toEqual(Object.keys(en).sort());
  for (const [key, text] of Object.entries(en))
    expect([key, holes(zhCN[key as keyof typeof en])]).toEqual([key, holes(text)]);
});

it("fills holes and follows the count", () => {
  const t = translator();
  expect([
    t("button.open", { host: "a.b" }),
    t("approval.editMany", { count: 1 }),
    t("approval.editMany", { count: 2 }),
  ]).toEqual(["Open a.b", "Edit 1 file", "Edit 2 files"]);
});
