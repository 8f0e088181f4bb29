import type { Ask } from "@sayso/react";
import type { Explained, Grant } from "../api/client";

export type Where = "project" | "everywhere";

/** What a rule can be about. */
export const CONDITIONS = ["run", "edit", "read", "fetch", "mcp", "tool"] as const;

/** A rule that allows what an approval is about. */
export interface Rule {
  on: (typeof CONDITIONS)[number];
  pattern: string;
  project: string | undefined;
}

/** What to begin with: the command with its first words kept, or the thing itself. */
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

/** The rule as it stands in the policy file. */
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

/** The policy with one rule more, at its end. */
export const withRule = (text: string, toml: string): string =>
  text.trim() === "" ? toml : `${text.trimEnd()}\n\n${toml}`;

/** What a grant allows, as pairs of what it is about and a pattern. */
export const allowedBy = (grant: Grant): [Rule["on"], string][] =>
  CONDITIONS.flatMap((on) => (grant[on] ?? []).map((pattern): [Rule["on"], string] => [on, pattern]));

/**
 * Where in the text of a policy that stands which an outcome names: a rule by its name or by its place
 * (`rule 3 (user)`), or a setting (`approvals.policy = "deny"`).
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

/** What a policy would have done otherwise than what happened. */
export interface DryRun {
  decided: Explained[];
  asYouDid: Explained[];
  otherwise: Explained[];
  unchanged: number;
}

const SAME: Record<string, string> = { approve: "approved", deny: "denied", answer: "answered", reject: "rejected" };

/** Compares what a policy would decide with what was decided, leaving out what it leaves to a person. */
export function compare(explained: Explained[], before: Explained[] = []): DryRun {
  const verdicts = new Map(before.map((one) => [one.askId, one.verdict]));
  const decided = explained.filter((one) => one.verdict !== "ask" && verdicts.get(one.askId) !== one.verdict);
  const asYouDid = decided.filter((one) => SAME[one.verdict] === one.status);
  const otherwise = decided.filter((one) => SAME[one.verdict] !== one.status && one.status !== "withdrawn");
  return { decided, asYouDid, otherwise, unchanged: explained.length - decided.length };
}
