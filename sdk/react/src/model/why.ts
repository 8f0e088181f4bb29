import type { Ask } from "../api";
import type { Translate } from "../words";
import { sentence, serverText, serverValue } from "./serverText";

/**
 * Why a person is asked, in the language of the card. It does not repeat what the card shows in full below. Code is between
 * backticks. A reason without a code is returned as the server wrote it.
 */
export function whyWords(t: Translate, ask: Ask): string {
  const { why, whyCode } = ask;
  const { what = "", rule = "" } = whyCode?.params ?? {};
  switch (whyCode?.code) {
    case "no_rule_allows":
      return namesWholeAsk(ask, what) ? t(noRuleKey(ask)) : t("why.part", { what });
    case "no_rule_can_allow":
      return t("why.never", { what: serverValue(t, whyCode, "found") });
    case "rule_asks":
      return t("why.rule", { rule });
    case "built_in_rule":
      return t("why.builtIn", { what: serverValue(t, whyCode, "found") });
    default:
      return sentence(serverText(t, why ?? "", whyCode));
  }
}

/** Whether the reason names everything that the card shows, in full or shortened. */
function namesWholeAsk({ approval }: Ask, missing: string): boolean {
  const named = /^`(.*)`$/s.exec(missing)?.[1];
  if (!approval || named === undefined) return true;
  const { command, url, tool, server, paths = [] } = approval;
  const shown = [command, url, tool, `${server}/${tool}`, paths.join(", ")];
  return shown.some((text) => {
    if (!text) return false;
    const line = oneLine(text);
    return named.endsWith("…") ? line.startsWith(named.slice(0, -1)) : line === named;
  });
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

function noRuleKey({ approval }: Ask): "why.run" | "why.edit" | "why.read" | "why.fetch" | "why.other" {
  switch (approval?.action) {
    case "run":
      return "why.run";
    case "edit":
      return (approval.paths ?? []).length === 1 ? "why.edit" : "why.other";
    case "read":
      return (approval.paths ?? []).length === 1 ? "why.read" : "why.other";
    case "fetch":
      return "why.fetch";
    default:
      return "why.other";
  }
}
