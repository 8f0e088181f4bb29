import type { FormRule, PolicyForm, PolicyRule } from "../api/client";
import { CONDITIONS } from "../rule/model";

/** The subjects of rules: kinds of actions, or questions. */
export const ABOUT = [...CONDITIONS, "question"] as const;
export type About = (typeof ABOUT)[number];

/** The possible effects of a rule, by its subject. */
export const effectsOf = (about: About): PolicyRule["do"][] =>
  about === "question" ? ["answer", "ask", "reject"] : ["allow", "ask", "deny"];

/** The key of the label of an effect, shared with its verdict. */
export const effectWords = (effect: PolicyRule["do"]) => `verdict.${effect === "allow" ? "approve" : effect}` as const;

/** The subject of a rule. Rules without patterns are about commands. */
export function aboutOf(rule: PolicyRule): About {
  const condition = CONDITIONS.find((one) => rule[one] !== undefined);
  if (condition) return condition;
  return rule.header !== undefined || rule.match !== undefined || rule.do === "answer" || rule.do === "reject"
    ? "question"
    : "run";
}

/** The rule with another subject, without its patterns. */
export function withAbout(rule: PolicyRule, about: About): PolicyRule {
  const { id, name, agent, project, until } = rule;
  const [first = "ask"] = effectsOf(about);
  const effect = effectsOf(about).includes(rule.do) ? rule.do : first;
  const kept = { id, name, agent, project, until, do: effect };
  return dropEmpty(about === "question" ? { ...kept, match: "" } : { ...kept, [about]: [] });
}

/** The rule with another effect, without the fields of the old effect. */
export function withEffect(rule: PolicyRule, effect: PolicyRule["do"]): PolicyRule {
  const { answer, pick, message, ...rest } = rule;
  if (effect === "answer") return dropEmpty({ ...rest, answer, pick, do: effect });
  if (effect === "deny" || effect === "reject") return dropEmpty({ ...rest, message, do: effect });
  return { ...rest, do: effect };
}

const dropEmpty = (rule: { [Key in keyof PolicyRule]?: PolicyRule[Key] | undefined }): PolicyRule =>
  Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)) as unknown as PolicyRule;

/** A rule with one field changed. An empty field is left out. */
export function withField<Key extends keyof PolicyRule>(
  rule: PolicyRule,
  key: Key,
  value: PolicyRule[Key] | undefined,
): PolicyRule {
  const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  return dropEmpty({ ...rule, [key]: isEmpty ? undefined : value });
}

/** The rule to send, without fields that are only open in the editor. */
export const complete = (rule: PolicyRule): PolicyRule =>
  Object.fromEntries(
    Object.entries(rule).filter(([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0)),
  ) as unknown as PolicyRule;

/** Whether a rule has no patterns, so that it matches everything. */
export const isAboutEverything = (rule: PolicyRule): boolean =>
  !([...CONDITIONS, "header", "match", "agent", "project"] as const).some((key) => (rule[key]?.length ?? 0) > 0);

/** The patterns of a rule in one line. */
export function summaryOf(rule: PolicyRule): string {
  const patterns = CONDITIONS.flatMap((on) => rule[on] ?? []);
  const asked = [rule.header, rule.match].filter(Boolean).map((text) => `“${text}”`);
  const answer = rule.answer?.join(", ") ?? (rule.pick ? `#${rule.pick}` : undefined);
  const line = [...patterns, ...asked].join(" · ");
  return answer ? `${line} → “${answer}”` : line;
}

/** Whether the file contains exactly this rule. */
export function isSaved(rule: FormRule, saved: PolicyForm | undefined): boolean {
  const before = saved?.rules.find((one) => one.key === rule.key);
  return before !== undefined && JSON.stringify(before.rule) === JSON.stringify(rule.rule);
}

/** The new index of a rule that moves past the next rule of its kind. Only the order of answer rules matters. */
export function neighbour(rules: FormRule[], place: number, step: -1 | 1): number | undefined {
  const answers = rules.filter((one) => one.rule.do === "answer").map((one) => one.place);
  return answers[answers.indexOf(place) + step];
}

/** The rule that an outcome or an address names. */
export const ruleNamed = (rules: FormRule[], name: string): FormRule | undefined =>
  rules.find((one) => one.key === name || one.label === name) ??
  rules.find((one) => name.split(", ").includes(one.label));
