import { expect, signIn, test, visit } from "./fixtures";
import { Server } from "./server";

const POLICY = `# What agents may do here.
[[rules]]
name = "tests" # often
do = "allow"
run = ["cargo test *"]

[[rules]]
name = "database"
do = "answer"
header = "database"
answer = "SQLite"

# Never on a Friday.
[[rules]]
name = "no pushing"
do = "deny"
run = ["git push *"]

[[rules]]
name = "which one"
do = "answer"
match = "which"
pick = 1
`;

const run = (command: string) => ({ approval: { tool: "Bash", action: "run", command, input: { command } } });
const policyText = async (server: Server) => (await server.api<{ text: string }>("GET", "/policy")).text;

test("rules are listed with how often they decided", async ({ page }) => {
  const server = await Server.start({ policy: POLICY });
  try {
    for (const command of ["cargo test", "cargo test --all", "git push"]) await server.ask(run(command));
    await signIn(page, server);
    await visit(page, "#/settings/policy");
    await expect(page.getByRole("region", { name: "tests", exact: true })).toContainText("2 in 30 days");
    await expect(page.getByRole("region", { name: "no pushing" })).toContainText("1 in 30 days");
    await expect(page.getByRole("region", { name: "database" })).toContainText("0 in 30 days");
  } finally {
    await server.stop();
  }
});

test("a rule is changed in the form, and its comments stay", async ({ page }) => {
  const server = await Server.start({ policy: POLICY });
  try {
    await signIn(page, server);
    await visit(page, "#/settings/policy");
    const rule = page.getByRole("region", { name: "no pushing" });
    await rule.getByRole("button", { name: "no pushing" }).click();
    await rule.getByRole("textbox", { name: "Command" }).fill("git tag *");
    await rule.getByRole("textbox", { name: "Command" }).press("Enter");
    await expect(rule.getByText("git tag *")).toBeVisible();
    await expect(rule).toContainText("not saved");
    await rule.getByRole("button", { name: "Ask me" }).click();
    // The text contains the changes of the form.
    await page.getByRole("button", { name: "policy.toml" }).click();
    const text = page.getByRole("textbox", { name: "policy.toml" });
    await expect(text).toHaveValue(/# Never on a Friday\.\n\[\[rules\]\]\nname = "no pushing"\ndo = "ask"/);
    expect(await policyText(server)).toBe(POLICY);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
    const id = /id = "(r[0-9a-f]{10})"/.exec(await policyText(server))?.[1] ?? "";
    expect(await policyText(server)).toBe(
      POLICY.replace(
        'do = "deny"\nrun = ["git push *"]\n',
        `do = "ask"\nrun = ["git push *", "git tag *"]\nid = "${id}"\n`,
      ),
    );
  } finally {
    await server.stop();
  }
});

test("a new rule is added to the text as soon as it is complete", async ({ inbox, server }) => {
  await visit(inbox, "#/settings/policy");
  await inbox.getByRole("button", { name: "New rule" }).click();
  const rule = inbox.getByRole("region", { name: "New rule" });
  await rule.getByRole("textbox", { name: "Command" }).fill("terraform apply *");
  await rule.getByRole("textbox", { name: "Command" }).press("Enter");
  const added = inbox.getByRole("region", { name: "rule 1 (user)" });
  await added.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(added.locator(".top")).toContainText("Deny");
  await added.getByRole("textbox", { name: "Name" }).fill("no terraform");
  await added.getByRole("textbox", { name: "Name" }).press("Enter");
  await expect(inbox.getByRole("region", { name: "no terraform" })).toBeVisible();
  await inbox.getByRole("button", { name: "Save", exact: true }).click();
  await expect(inbox.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
  const denied = await server.ask(run("terraform apply prod"));
  expect(denied.outcome).toMatchObject({ by: { kind: "policy", rule: "no terraform" } });
});

test("an incomplete rule shows the missing field, and is not added to the text", async ({ inbox, server }) => {
  await visit(inbox, "#/settings/policy");
  await inbox.getByRole("button", { name: "New rule" }).click();
  const rule = inbox.getByRole("region", { name: "New rule" });
  await rule.getByRole("textbox", { name: "Name" }).fill("empty");
  await rule.getByRole("textbox", { name: "Name" }).press("Enter");
  await expect(rule.getByRole("alert")).toContainText("add at least one pattern");
  await rule.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(rule.getByRole("alert")).toContainText("add at least one pattern");
  await expect(inbox.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
  expect(await policyText(server)).toBe("");
});

test("answer rules can be reordered, and only they have an order", async ({ page }) => {
  const server = await Server.start({ policy: POLICY });
  try {
    await signIn(page, server);
    await visit(page, "#/settings/policy");
    const tests = page.getByRole("region", { name: "tests", exact: true });
    await tests.getByRole("button", { name: "tests" }).click();
    await expect(tests.getByText("Order doesn’t matter.")).toBeVisible();
    await expect(tests.getByRole("button", { name: "Move up" })).toHaveCount(0);
    const which = page.getByRole("region", { name: "which one" });
    await which.getByRole("button", { name: "which one" }).click();
    await which.getByRole("button", { name: "Move up" }).click();
    await expect(page.locator(".rule[data-open] b")).toHaveText(["tests", "which one", "database", "no pushing"]);
    await expect(which.getByRole("button", { name: "Move up" })).toBeDisabled();
  } finally {
    await server.stop();
  }
});

test("the defaults and the away profile are set in the form", async ({ inbox, server }) => {
  await visit(inbox, "#/settings/policy");
  await inbox.getByRole("combobox", { name: "Time to decide an approval" }).selectOption("10m");
  await expect(inbox.getByText("then deny")).toBeVisible();
  await inbox.getByRole("button", { name: "Add", exact: true }).click();
  await expect(inbox.getByText("Questions: wait 15 min, then reject. Approvals: wait 15 min, then deny")).toBeVisible();
  await inbox.getByRole("button", { name: "Save", exact: true }).click();
  await inbox.getByRole("button", { name: "Away for 2 h" }).click();
  await expect(
    inbox.getByRole("region", { name: "Policy and rules" }).getByRole("button", { name: "I’m back" }),
  ).toBeVisible();
  expect(await server.api("GET", "/policy")).toMatchObject({ profile: { name: "away" } });
  const ask = await server.ask(run("make"));
  expect(ask.deadlineAt).toBeTruthy();
});

test("an action that was approved often is suggested as a rule", async ({ inbox, server }) => {
  for (let n = 0; n < 3; n++) {
    const { id } = await server.ask(run("make lint"));
    await server.api("POST", `/asks/${id}/approve`, {});
  }
  const { id } = await server.ask(run("make lint"));
  await visit(inbox, `#/inbox/${id}`);
  const hint = inbox.getByRole("region", { name: "Make a rule" });
  await expect(hint).toContainText("You approved this 3 times.");
  await expect(hint).toContainText("Would have decided 3 of your recent asks: 3 same as you, 0 different");
  await hint.getByRole("button", { name: "Make a rule" }).click();
  await expect(inbox.getByRole("dialog", { name: "Make a rule" })).toBeVisible();
});

test("the mode and the model of a running session are changed", async ({ inbox, server }) => {
  const session = await server.session("question");
  await server.asked(session.id);
  await visit(inbox, `#/sessions/${session.id}`);
  await inbox.getByRole("button", { name: "Mode and model" }).click();
  const dialog = inbox.getByRole("dialog", { name: "Mode and model" });
  await dialog.getByRole("combobox", { name: "Mode" }).selectOption("bypassPermissions");
  await expect(dialog.getByText("In this mode, the agent can act without asking you.")).toBeVisible();
  await dialog.getByRole("combobox", { name: "Mode" }).selectOption("plan");
  await dialog.getByRole("textbox", { name: "Model" }).fill("opus");
  await dialog.getByRole("button", { name: "Apply" }).click();
  const facts = inbox.getByRole("complementary", { name: "Session" });
  await expect(facts).toContainText("plan");
  await expect(facts).toContainText("opus");
  expect(await server.api("GET", `/sessions/${session.id}`)).toMatchObject({ permissionMode: "plan", model: "opus" });
});

test("only admins are offered modes that skip approvals", async ({ page, server }) => {
  const session = await server.session("question");
  await server.asked(session.id);
  await signIn(page, server, { holdMs: 0 }, "answerer");
  await visit(page, `#/sessions/${session.id}`);
  await page.getByRole("button", { name: "Mode and model" }).click();
  await expect(page.getByRole("combobox", { name: "Mode" }).getByRole("option")).toHaveText(["default", "plan"]);
});

test("notification channels are listed, and a test reports its failure", async ({ page }) => {
  const config =
    '[[notify]]\nname = "hook"\nkind = "ntfy"\ntopic = "x"\nurl = "http://127.0.0.1:1"\nallow_private = true\n';
  const server = await Server.start({ config });
  try {
    await signIn(page, server);
    await visit(page, "#/settings/notifications");
    const channel = page.getByRole("region", { name: "hook" });
    await expect(channel).toContainText("ntfy");
    await channel.getByRole("button", { name: "Send a test" }).click();
    await expect(channel.locator(".wrong")).toBeVisible();
  } finally {
    await server.stop();
  }
});
