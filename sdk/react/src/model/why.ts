import type { Ask } from "../api";
import type { Translate } from "../words";

/**
 * The server's reason why a person is asked, in the language of the card. What is shown in full below the reason is not repeated;
 * code stands between backticks. A reason of another shape is returned as the server wrote it.
 */
export function whyWords(t: Translate, ask: Ask): string {
  const why = ask.why ?? "";
  const missing = /^no rule allows (.+)$/s.exec(why)?.[1];
  if (missing !== undefined) return isWhole(ask, missing) ? t(noRuleKey(ask)) : t("why.part", { what: missing });
  const held = /^no rule can allow .+: it holds (.+)$/s.exec(why)?.[1];
  if (held !== undefined) return t("why.never", { what: held });
  const rule = /^rule "(.+)" asks for /s.exec(why)?.[1];
  if (rule !== undefined) return t("why.rule", { rule });
  const first = why.charAt(0).toUpperCase() + why.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** Whether the reason names all of what the card shows, in full or shortened. */
function isWhole({ approval }: Ask, missing: string): boolean {
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
