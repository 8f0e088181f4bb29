import type { Actor } from "@sayso/react";
import type { Words } from "../i18n";

/** Who or what decided an ask, in words. */
export function deciderOf(t: Words, by: Actor | undefined): string {
  if (by?.kind === "policy") return t("history.rule", { rule: by.rule ?? "" });
  if (by?.kind === "person") return [by.name, by.via].filter(Boolean).join(", ");
  return t(`by.${(by?.kind ?? "agent") as "agent"}`);
}
