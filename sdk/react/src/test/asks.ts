import type { Ask, Question } from "../api";

/** A question with two options and free text, which is the most common form. */
export const database: Question = {
  key: "0",
  header: "Database",
  text: "Which database?",
  input: "choice",
  multiple: false,
  custom: true,
  required: true,
  options: [
    { value: "sqlite", label: "SQLite", description: "one file", recommended: true },
    { value: "postgres", label: "PostgreSQL" },
  ],
};

export const areas: Question = {
  ...database,
  key: "1",
  header: "Areas",
  text: "Which areas?",
  multiple: true,
  options: [{ label: "Auth" }, { label: "Billing" }],
};

export const token: Question = {
  key: "2",
  header: "Token",
  text: "Which token?",
  input: "text",
  secret: true,
  required: true,
  options: [],
};

/** A pending ask. */
export function anAsk(change: Partial<Ask> = {}): Ask {
  return {
    id: "ask_1",
    sessionId: "ses_1",
    agent: "claude",
    kind: "question",
    status: "pending",
    reach: "live",
    toolCallId: "call-1",
    title: "Store login sessions",
    project: "/home/ada/work/shop-api",
    branch: "feat/sessions",
    blocking: true,
    openedAt: new Date(Date.now() - 60_000).toISOString(),
    labels: {},
    questions: [database],
    ...change,
  };
}

export function anApproval(change: Partial<NonNullable<Ask["approval"]>> = {}): Ask {
  const command = change.command ?? "cargo test --workspace";
  return anAsk({
    kind: "approval",
    questions: [],
    why: `no rule allows \`${command}\``,
    whyCode: { code: "no_rule_allows", params: { what: `\`${command}\`` } },
    approval: {
      tool: "Bash",
      action: "run",
      command,
      title: command,
      input: { command },
      preview: { type: "command", command },
      choices: [{ id: "always", label: "Always (Claude, this project)" }],
      editable: true,
      ...change,
    },
  });
}
