import type { AskCardActions } from "@sayso/react";
import { go } from "../app/route";

/** What a card offers about rules, to those who may change them. */
export const ruleActions = (makeRule: () => void): AskCardActions => ({
  makeRule,
  editRule: ({ outcome }) => go({ page: "settings", section: "policy", rule: outcome?.by.rule ?? "" }),
});
