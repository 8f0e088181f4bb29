import type { Ask } from "@sayso/react";
import type { Explained, Grant } from "../api/client";

export type Where = "project" | "everywhere";

/** The kinds of actions that a rule can match. */
export const CONDITIONS = ["run", "edit", "read", "fetch", "mcp", "tool"] as const;

/** A rule that allows the action of an approval. */
export interface Rule {
  on: (typeof CONDITIONS)[number];
  pattern: string;
  project: string | undefined;
}

/** The suggested pattern: the first words of the command, or the exact target. */
export function suggest(ask: Ask, where: Where): Rule {
  const project = where === "project" ? (ask.project ?? undefined) : undefined;
  const { approval } = ask;
  const action = approval?.action;
  if (action === "run") return { on: "run", pattern: commandPattern(approval?.command ?? ""), project };
  if (action === "edit" || action === "read")
    return { on: action, pattern: pathPattern(approval?.paths?.[0] ?? "", ask.project), project };
  if (action === "fetch") return { on: "fetch", pattern: hostOf(approval?.url ?? ""), project };
  if (action === "mcp") return { on: "mcp", pattern: `${approval?.server ?? ""}/${approval?.tool ?? ""}`, project };
  return { on: "tool", pattern: approval?.tool ?? "", project };
}

/** `cargo test --workspace` → `cargo test *`; a single word stays as it is. */
export function commandPattern(command: string): string {
  const [program = "", verb] = command.trim().split(/\s+/);
  if (verb === undefined) return program;
  return verb.startsWith("-") ? `${program} *` : `${program} ${verb} *`;
}

function pathPattern(path: string, project: string | null | undefined): string {
  const inside = project && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
  const folder = inside.split("/").slice(0, -1).join("/");
  return folder ? `${folder}/**` : inside;
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

const quoted = (text: string): string => JSON.stringify(text);

/** The rule as TOML for the policy file. */
export function toToml(rule: Rule, action: "allow" | "deny" = "allow"): string {
  const value = rule.on === "tool" ? quoted(rule.pattern) : `[${quoted(rule.pattern)}]`;
  const lines = [
    "[[rules]]",
    `name = ${quoted(`${rule.pattern} from the page`)}`,
    `do = ${quoted(action)}`,
    `${rule.on} = ${value}`,
  ];
  if (rule.project) lines.push(`project = ${quoted(rule.project)}`);
  return `${lines.join("\n")}\n`;
}

/** The policy with a rule added at the end. */
export const withRule = (text: string, toml: string): string =>
  text.trim() === "" ? toml : `${text.trimEnd()}\n\n${toml}`;

/** The permissions of a grant, as pairs of a kind and a pattern. */
export const allowedBy = (grant: Grant): [Rule["on"], string][] =>
  CONDITIONS.flatMap((on) => (grant[on] ?? []).map((pattern): [Rule["on"], string] => [on, pattern]));

/**
 * Finds the rule or setting that an outcome names in the text of a policy: a rule by its name or number (`rule 3 (user)`), or a
 * setting (`approvals.policy = "deny"`).
 */
export function placeOf(text: string, rule: string): { from: number; to: number } | undefined {
  const number = /^rule (\d+) \(user\)$/.exec(rule)?.[1];
  if (number) {
    const heads = [...text.matchAll(/^[ \t]*\[\[rules\]\]/gm)];
    const head = heads[Number(number) - 1];
    return head && { from: head.index, to: head.index + head[0].length };
  }
  const section = /^(questions|approvals)\./.exec(rule)?.[1];
  const wanted = section ? `[${section}]` : JSON.stringify(rule);
  const from = text.indexOf(wanted);
  return from < 0 ? undefined : { from, to: from + wanted.length };
}

/** The result of a dry run, compared with the actual outcomes. */
export interface DryRun {
  decided: Explained[];
  asYouDid: Explained[];
  otherwise: Explained[];
  unchanged: number;
}

const SAME: Record<string, string> = { approve: "approved", deny: "denied", answer: "answered", reject: "rejected" };

/** Compares a dry run with the actual outcomes. Leaves out asks that the policy forwards to a person. */
export function compare(explained: Explained[], before: Explained[] = []): DryRun {
  const verdicts = new Map(before.map((one) => [one.askId, one.verdict]));
  const decided = explained.filter((one) => one.verdict !== "ask" && verdicts.get(one.askId) !== one.verdict);
  const asYouDid = decided.filter((one) => SAME[one.verdict] === one.status);
  const otherwise = decided.filter((one) => SAME[one.verdict] !== one.status && one.status !== "withdrawn");
  return { decided, asYouDid, otherwise, unchanged: explained.length - decided.length };
}
