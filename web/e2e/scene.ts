import type { Server } from "./server";

const work = (name: string) => `/home/ada/work/${name}`;
/** The approval of a shell command. */
export const commandApproval = (text: string) => ({
  tool: "Bash",
  action: "run",
  command: text,
  title: text,
  input: { command: text },
  preview: { type: "command", command: text },
  editable: true,
});

const DIFF = `@@ -41,8 +41,11 @@ impl RefundService
     pub async fn refund(&self, req: RefundRequest) -> Result<Refund> {
         let payment = self.payments.get(req.payment_id).await?;
-        if payment.status != Status::Captured {
-            return Err(RefundError::NotCaptured);
+        if payment.refundable() < req.amount {
+            return Err(RefundError::TooMuch { left: payment.refundable() });
         }
-        let refund = self.gateway.refund(&payment, req.amount).await?;
-        self.refunds.insert(&refund).await?;
+        let refund = self.refunds.reserve(&payment, req.amount, req.key).await?;
+        if refund.is_replay() {
+            return Ok(refund);
+        }
+        self.gateway.refund(&payment, &refund).await?;
         Ok(refund)
`;

const PLAN = `## Goal
Running an invoice job twice must send one invoice. Today a worker restart between \`render\` and \`mark_sent\` sends two.

## Steps
1. Add \`job_key\` (unique) to \`invoice_jobs\`; fill it from \`account_id + period\`.
2. Replace \`insert\` by \`insert … on conflict do nothing returning\`; a lost race is a replay, not an error.
3. Send through the outbox: the row and the mail are one transaction, the mailer takes an id once.

## Not part of this
- No change to the PDF layout, no change to \`/v1/invoices\`.
`;

const SESSIONS_SQL = `CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  user_id    INTEGER NOT NULL
             REFERENCES users(id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
`;

/** A workflow whose second step asks, with a pause after it. */
export const RELEASE = [
  { id: "explore", agent: "mock", prompt: "Read the changes since the last release." },
  { id: "plan", agent: "mock", prompt: "ask me a question", questions: "forward" },
  { id: "go", checkpoint: { header: "Go on", question: "Release this?", options: ["Yes", "No"] } },
  { id: "publish", agent: "mock", prompt: "Publish this: {{steps.plan.output}}" },
];

/** A morning with five agents: asks of all kinds, some of them decided. */
export async function fill(server: Server): Promise<{ session: string }> {
  await decidedAsks(server);
  const session = await server.session("ask me a question");
  await server.asked(session.id);
  await server.session("approve it");
  await waitingAsks(server);
  return { session: session.id };
}

/** Asks that ended or were parked without a delivered answer. */
export async function unusualAsks(server: Server): Promise<Record<"parked" | "withdrawn" | "undelivered", string>> {
  const crashed = await server.session("crash");
  const parked = await server.asked(crashed.id);
  await server.until(async () => (await server.readAsk(parked.id)).reach === "parked");
  const withdrawn = await server.ask({
    agent: "codex",
    title: "Nightly migration",
    project: work("billing"),
    questions: [{ header: "Migration", text: "Run it on the local database?", options: [{ label: "Yes" }] }],
  });
  await server.api("DELETE", `/asks/${withdrawn.id}?reason=${encodeURIComponent("The turn was interrupted.")}`);
  const external = { agent: "claude", sessionId: "s-1", cwd: server.home };
  const undelivered = await server.ask({
    external,
    title: "Store login sessions",
    dedupeKey: "s-1:aa:0",
    questions: [
      { header: "Session store", text: "Where should login sessions be stored?", options: [{ label: "SQLite table" }] },
    ],
  });
  await server.api("POST", `/asks/${undelivered.id}/answer`, { answers: [["SQLite table"]] });
  await server.api("POST", "/external", { agent: "claude", sessionId: "s-1", event: "prompted" });
  return { parked: parked.id, withdrawn: withdrawn.id, undelivered: undelivered.id };
}

/** Decisions of a rule that was removed from the file afterwards. */
async function ruledAsks(server: Server): Promise<void> {
  const write = async (text: string) => {
    const { textFingerprint } = await server.api<{ textFingerprint: string }>("GET", "/policy");
    await server.api("PUT", "/policy", { text, ifFingerprint: textFingerprint });
  };
  await write('[[rules]]\nname = "read-only"\ndo = "allow"\nrun = ["git status", "git diff *", "rg *"]\n');
  for (const [agent, text] of [
    ["claude", "git status"],
    ["codex", "git diff --stat main"],
    ["opencode", "rg --files src"],
  ] as const)
    await server.ask({ agent, project: work("web-app"), approval: commandApproval(text) });
  await write("");
}

async function decidedAsks(server: Server): Promise<void> {
  await ruledAsks(server);
  const decide = (id: string, how: string, body: object) => server.api("POST", `/asks/${id}/${how}`, body);
  const locale = await server.ask({
    agent: "gemini",
    project: work("billing"),
    questions: [
      { header: "Locale", text: "Which locale for invoices?", options: [{ label: "de-CH" }, { label: "en" }] },
    ],
  });
  await decide(locale.id, "answer", { answers: [["de-CH"]] });
  const push = await server.ask({
    agent: "codex",
    project: work("shop-api"),
    approval: commandApproval("git push --force origin main"),
  });
  await decide(push.id, "deny", { message: "Open a pull request" });
  const clippy = await server.ask({
    agent: "codex",
    project: work("shop-api"),
    approval: commandApproval("cargo clippy --all-targets"),
  });
  await decide(clippy.id, "approve", {});
  const core = await server.ask({
    agent: "claude",
    project: work("shop-api"),
    approval: commandApproval("cargo test -p core"),
  });
  await decide(core.id, "approve", {});
  const ignored = await server.ask({
    agent: "gemini",
    project: work("shop-api"),
    approval: commandApproval("cargo test --release -- --ignored"),
  });
  await decide(ignored.id, "deny", { message: "Takes 40 minutes, not now" });
  const flags = await server.ask({
    agent: "claude",
    project: work("web-app"),
    questions: [{ text: "Delete the 14 stale feature flags now?", options: [{ label: "Yes" }] }],
  });
  await decide(flags.id, "reject", {});
  const gone = await server.ask({
    agent: "codex",
    project: work("billing"),
    questions: [{ text: "Run the migration on the local database?", options: [{ label: "Yes" }] }],
  });
  await server.api("DELETE", `/asks/${gone.id}`);
}

async function waitingAsks(server: Server): Promise<void> {
  await server.ask({
    agent: "codex",
    title: "Staging cutover",
    project: work("infra"),
    branch: "staging-cutover",
    timeout: "9m",
    approval: commandApproval("terraform apply -var-file=staging.tfvars -auto-approve"),
  });
  await server.ask({
    agent: "claude",
    title: "Store login sessions",
    project: work("shop-api"),
    branch: "feat/sessions",
    context:
      "The login route works and is tested. Logins are lost on restart because `SessionMap` lives in memory. I found no Redis in `compose.yaml`; SQLite already holds `users`.",
    questions: [
      {
        header: "Session store",
        text: "Where should login sessions be stored?",
        options: [
          {
            label: "SQLite table",
            description: "One table next to users. No new service, and a session can be revoked.",
            preview: SESSIONS_SQL,
            recommended: true,
          },
          { label: "Redis", description: "Expires by itself. Needs a Redis in every environment." },
          { label: "Signed cookie", description: "No storage. A session cannot be revoked before it expires." },
        ],
      },
    ],
  });
  await server.ask({
    agent: "claude",
    title: "Fix double refunds",
    project: work("billing"),
    branch: "fix/refunds",
    approval: {
      tool: "Write",
      action: "edit",
      title: "Edit src/payments/refund.rs",
      paths: ["src/payments/refund.rs"],
      input: { file_path: "src/payments/refund.rs" },
      preview: { type: "diff", files: [{ path: "src/payments/refund.rs", diff: DIFF }] },
      editable: true,
    },
  });
  await server.ask({
    agent: "claude",
    title: "Idempotent invoices",
    project: work("billing"),
    branch: "feat/idempotency",
    approval: {
      tool: "ExitPlanMode",
      action: "plan",
      title: "Plan: make invoice jobs idempotent",
      input: { plan: PLAN },
      preview: { type: "plan", text: PLAN },
      editable: true,
    },
  });
  await server.ask({
    agent: "opencode",
    title: "Set up web tests",
    project: work("web-app"),
    branch: "test-setup",
    questions: [
      {
        header: "Test runner",
        text: "Which test runner should I set up?",
        custom: false,
        options: [
          { label: "Vitest", description: "Shares the Vite config. Fast watch mode." },
          { label: "Jest", description: "Already used in packages/legacy." },
        ],
      },
      {
        header: "Areas",
        text: "Which areas get tests first?",
        multiple: true,
        options: [
          { label: "Checkout", description: "Cart, address, payment" },
          { label: "Sign-in", description: "Password, passkey, reset" },
          { label: "Search", description: "Filters, paging, empty result" },
        ],
      },
      { header: "Coverage", text: "Fail the build below what coverage?", input: "number", minimum: 0, maximum: 100 },
      { header: "Registry", text: "Read token for the private registry?", input: "text", secret: true },
    ],
  });
  for (const [agent, branch] of [
    ["codex", "chore/axum-0.9"],
    ["claude", "feat/sessions"],
    ["opencode", "test-setup"],
  ]) {
    await server.ask({
      agent,
      title: "Bump axum to 0.9",
      project: work("shop-api"),
      branch,
      approval: commandApproval("cargo test --workspace"),
    });
  }
  await server.ask({
    agent: "codex",
    title: "Open the pull request",
    project: work("infra"),
    branch: "main",
    link: {
      url: "https://github.com/login/device?user_code=7F2C-91AD",
      message: "Sign in so that I can open the pull request",
    },
  });
  await server.ask({
    agent: "gemini",
    title: "Metrics crate",
    project: work("shop-api"),
    branch: "metrics",
    blocking: false,
    questions: [{ text: "Name for the new metrics crate?", input: "text" }],
  });
}
