import { anotherBrowser, card, expect, pressOnCard, signIn, test, visit } from "./fixtures";

const question = (change: object = {}) => ({
  title: "Nightly backup",
  questions: [
    { header: "Target", text: "Where should the backup go?", options: [{ label: "NAS" }, { label: "S3" }], ...change },
  ],
});

test("one click answers, and the card shows the result", async ({ inbox, server }) => {
  const ask = await server.ask(question());
  await card(inbox).getByRole("button", { name: "S3" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await expect(card(inbox)).toContainText("[Target]Selected: “S3”");
  await expect(card(inbox)).toContainText("You, here.");
  expect((await server.readAsk(ask.id)).outcome).toMatchObject({
    status: "answered",
    answers: [["S3"]],
    by: { via: "page" },
  });
});

test("free text is sent with Enter", async ({ inbox, server }) => {
  const ask = await server.ask(question());
  await inbox.getByPlaceholder("Other: type your answer").fill("A drawer");
  await inbox.keyboard.press("Enter");
  await expect(card(inbox)).toContainText("Selected: “A drawer”");
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["A drawer"]]);
});

test("several options are sent together, free text last", async ({ inbox, server }) => {
  const ask = await server.ask(question({ multiple: true }));
  await card(inbox).getByRole("checkbox", { name: "S3" }).click();
  await card(inbox).getByRole("checkbox", { name: "NAS" }).click();
  await inbox.getByPlaceholder("Other: type your answer").fill("Tape");
  await inbox.keyboard.press("Control+Enter");
  await expect(card(inbox)).toContainText("Selected: “NAS”, “S3”, “Tape”");
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["NAS", "S3", "Tape"]]);
});

test("a set of questions is answered with the mouse, and submitted together", async ({ inbox, server }) => {
  const session = await server.session("questions");
  const ask = await server.asked(session.id);
  const part = (index: number) => card(inbox).getByRole("region").nth(index);
  await part(0).getByRole("radio").first().click();
  await part(1).getByRole("checkbox").nth(0).click();
  await part(1).getByRole("checkbox").nth(1).click();
  await part(2).getByRole("textbox").fill("nothing else");
  await card(inbox).getByRole("button", { name: "Submit" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  const [one, two] = (ask.questions ?? []).map(({ options = [] }) => options.map(({ value, label }) => value ?? label));
  const answers = [[one?.[0]], two?.slice(0, 2), ["nothing else"]];
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual(answers);
});

test("an invalid answer shows an error and keeps the input, and can be corrected", async ({ inbox, server }) => {
  const ask = await server.ask(
    question({ header: "Coverage", text: "Which coverage?", input: "number", minimum: 0, maximum: 100, options: [] }),
  );
  const field = inbox.getByLabel("Answer to Coverage");
  await field.fill("700");
  await field.press("Enter");
  await expect(card(inbox).getByRole("alert")).toHaveText("Enter a number from 0 to 100.");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("700");
  await field.fill("70");
  await field.press("Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["70"]]);
});

test("rejecting keeps the question and shows the reason", async ({ inbox, server }) => {
  const ask = await server.ask(question());
  await card(inbox).getByRole("button", { name: "Reject with reason" }).click();
  await inbox.getByRole("textbox", { name: /^Why\?/ }).fill("Ask me tomorrow.");
  await inbox.keyboard.press("Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "rejected");
  await expect(card(inbox)).toContainText("“Ask me tomorrow.”");
  expect((await server.readAsk(ask.id)).outcome).toMatchObject({ status: "rejected", message: "Ask me tomorrow." });
});

test("a held answer can be undone, and is sent when the page is closed", async ({ page, server }) => {
  const ask = await server.ask(question());
  await signIn(page, server);
  await card(page).getByRole("button", { name: "NAS" }).click();
  await expect(card(page)).toHaveAttribute("data-state", "sending");
  await page.keyboard.press("u");
  await expect(card(page)).toHaveAttribute("data-state", "pending");
  expect((await server.readAsk(ask.id)).status).toBe("pending");
  await card(page).getByRole("button", { name: "S3" }).click();
  await page.goto("about:blank");
  await expect.poll(async () => (await server.readAsk(ask.id)).outcome?.answers).toEqual([["S3"]]);
});

test("an approval is approved, edited, denied and stopped", async ({ inbox, server }) => {
  for (const [act, outcome] of [
    [() => pressOnCard(inbox, "a"), { status: "approved" }],
    [
      async () => {
        await pressOnCard(inbox, "e");
        await inbox.getByRole("textbox", { name: "Input to approve" }).fill("cargo test -p core");
        await inbox.keyboard.press("Control+Enter");
      },
      { status: "approved", input: { command: "cargo test -p core" } },
    ],
    [
      () => card(inbox).getByRole("button", { name: "Always allow cargo test" }).click(),
      { status: "approved", choice: "always" },
    ],
    [() => pressOnCard(inbox, "d"), { status: "denied" }],
    [() => pressOnCard(inbox, "D"), { status: "denied", stop: true }],
  ] as const) {
    const session = await server.session("approve it");
    const ask = await server.asked(session.id);
    await visit(inbox, `#/inbox/${ask.id}`);
    await expect(card(inbox)).toHaveAttribute("data-ask", ask.id);
    await act();
    await expect.poll(async () => (await server.readAsk(ask.id)).outcome ?? {}).toMatchObject(outcome);
  }
});

test("identical approvals are approved together", async ({ inbox, server }) => {
  const approval = { tool: "Bash", action: "run", command: "ls", title: "ls", input: { command: "ls" } };
  const asks = [await server.ask({ approval }), await server.ask({ approval }), await server.ask({ approval })];
  await expect(inbox.locator(".row", { hasText: "×3" })).toHaveCount(1);
  await pressOnCard(inbox, "X");
  await expect(inbox.getByRole("heading", { name: "Decide 3 approvals together" })).toBeVisible();
  await pressOnCard(inbox, "a");
  await expect.poll(async () => (await server.pending()).length).toBe(0);
  expect((await server.readAsk(asks[2]?.id ?? "")).status).toBe("approved");
});

test("a rule for an hour shows a dry run, and approves identical asks", async ({ inbox, server }) => {
  const approval = {
    tool: "Bash",
    action: "run",
    command: "cargo test -p a",
    title: "t",
    input: { command: "cargo test -p a" },
  };
  await server.ask({ approval, project: "/p" });
  await server.ask({
    approval: { ...approval, command: "cargo test -p b", input: { command: "cargo test -p b" } },
    project: "/p",
  });
  await pressOnCard(inbox, "m");
  const dialog = inbox.getByRole("dialog", { name: "Make a rule" });
  await expect(dialog.getByLabel("Command")).toHaveValue("cargo test *");
  await dialog.getByRole("button", { name: "Save and approve 2" }).click();
  await expect.poll(async () => (await server.pending()).length).toBe(0);
  const { grants } = await server.api<{ grants: { run: string[] }[] }>("GET", "/policy");
  expect(grants.map((grant) => grant.run)).toEqual([["cargo test *"]]);
});

test("a rule without an end is written into the policy file, after a dry run", async ({ inbox, server }) => {
  const edit = (path: string) => ({
    project: "/p",
    approval: { tool: "Edit", action: "edit", title: path, paths: [path], input: { file_path: path } },
  });
  const before = await server.ask(edit("/p/src/a.rs"));
  await server.api("POST", `/asks/${before.id}/approve`, {});
  const ask = await server.ask(edit("/p/src/b.rs"));
  await visit(inbox, `#/inbox/${ask.id}`);
  await expect(card(inbox)).toHaveAttribute("data-ask", ask.id);
  await pressOnCard(inbox, "m");
  const dialog = inbox.getByRole("dialog", { name: "Make a rule" });
  await expect(dialog.getByLabel("Edits in")).toHaveValue("src/**");
  await dialog.getByRole("button", { name: "No end" }).click();
  await expect(dialog.getByText("Would have decided 1 of your recent asks")).toBeVisible();
  await expect(dialog.locator(".hit")).toContainText("/p/src/a.rs");
  await dialog.getByRole("button", { name: "Save only" }).click();
  await expect(dialog).toHaveCount(0);
  const { text } = await server.api<{ text: string }>("GET", "/policy");
  expect(text).toContain('do = "allow"\nedit = ["src/**"]\nproject = "/p"\n');
  expect((await server.ask(edit("/p/src/c.rs"))).status).toBe("approved");
});

test("the first of two browsers wins, and the other one names the winner", async ({ inbox, browser, server }) => {
  const ask = await server.ask(question());
  const other = await anotherBrowser(browser, server);
  await expect(card(other)).toHaveAttribute("data-state", "pending");
  await card(inbox).getByRole("button", { name: "NAS" }).click();
  await expect(card(other)).toHaveAttribute("data-state", "answered");
  await expect(card(other).locator(".state")).toContainText("on another page");
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["NAS"]]);
  await other.context().close();
});
