import type { Actor } from "@sayso/react";
import type { Words } from "../i18n";

/** The actor who decided an ask, in words. */
export function deciderOf(t: Words, by: Actor | undefined): string {
  if (by?.kind === "policy") return t("history.rule", { rule: by.rule ?? "" });
  if (by?.kind === "person") return [by.name, viaWords(t, by.via)].filter(Boolean).join(", ");
  return t(`by.${(by?.kind ?? "agent") as "agent"}`);
}

/** The surface that a person used. Names of notification channels are returned unchanged. */
function viaWords(t: Words, via: string | null | undefined): string | null | undefined {
  if (via === "page") return t("via.page");
  if (via === "terminal" || via === "cli") return t("via.terminal");
  return via === "http" ? t("via.api") : via;
}
