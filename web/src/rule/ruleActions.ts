import type { AskCardActions } from "@sayso/react";
import { go } from "../app/route";

/** The rule actions of a card, for admins. */
export const ruleActions = (makeRule: () => void): AskCardActions => ({
  makeRule,
  editRule: ({ outcome }) => go({ page: "settings", section: "policy", rule: outcome?.by.rule ?? "" }),
});
