import { expect, it } from "vitest";
import { en, translator, zhCN } from ".";

const paramsIn = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();

/** Texts that the server writes in English. Only translations have words for them. */
const isServerText = (key: string) => /^(code|found|kind)\./.test(key);

it("has the same keys and parameters in both languages", () => {
  expect(
    Object.keys(zhCN)
      .filter((key) => !isServerText(key))
      .sort(),
  ).toEqual(Object.keys(en).sort());
  for (const [key, text] of Object.entries(en))
    expect([key, paramsIn(zhCN[key as keyof typeof en])]).toEqual([key, paramsIn(text)]);
});

it("fills in parameters and picks the plural form", () => {
  const t = translator();
  expect([
    t("button.open", { host: "a.b" }),
    t("approval.editMany", { count: 1 }),
    t("approval.editMany", { count: 2 }),
  ]).toEqual(["Open a.b", "Edit 1 file", "Edit 2 files"]);
});
