import { card, expect, signIn, test, visit } from "./fixtures";
import { RELEASE } from "./scene";

const step = (id: string) => `.step[data-step="${id}"]`;

// The pending ask of a run is shown at its step and answered there.
test("a run shows its steps, and its pending question and checkpoint", async ({ inbox, server }) => {
  const { id } = await server.run("release", RELEASE);
  await inbox.getByRole("link", { name: "Runs" }).click();
  await expect(inbox).toHaveURL(new RegExp(`#/runs/${id}`));
  const plan = inbox.locator(step("plan"));
  await expect(inbox.locator(step("explore"))).toHaveAttribute("data-status", "completed");
  await expect(plan).toHaveAttribute("data-status", "waiting");
  await expect(inbox.locator(".row")).toContainText("step 2 of 4: plan");
  await plan.getByRole("button", { name: "PostgreSQL" }).click();
  await expect(card(inbox).first()).toHaveAttribute("data-state", "answered");
  await expect(plan).toHaveAttribute("data-status", "completed");
  await expect(plan.locator("summary")).toContainText("You answered: PostgreSQL.");

  const go = inbox.locator(step("go"));
  await expect(go).toHaveAttribute("data-status", "waiting");
  await go.getByRole("button", { name: "Yes" }).click();
  await expect(inbox.locator(step("publish"))).toHaveAttribute("data-status", "completed");
  await expect(inbox.locator(".detail .bar .chip")).toHaveText("completed");
  await expect(inbox.locator(".row")).toContainText("4 steps");
  const trace = inbox.getByRole("region", { name: "Trace" }).getByRole("listitem");
  await expect(trace.filter({ hasText: "plan: answered: PostgreSQL (you, page)" })).toHaveCount(1);
  await expect(trace.first()).toContainText("run release started");
  await expect(trace.last()).toContainText("release: completed");
  await expect(inbox.getByRole("button", { name: "Cancel run" })).toHaveCount(0);
  await plan.getByRole("link", { name: "Session" }).click();
  await expect(inbox.getByRole("log")).toContainText("PostgreSQL");
});

test("a step shows the policy for its questions, and a checkpoint shows its question", async ({ inbox, server }) => {
  const { id } = await server.run("release", [
    { id: "plan", agent: "mock", prompt: "ask me a question", questions: "forward", question_timeout: "1h" },
    { id: "go", checkpoint: { question: "Publish the release?", options: ["Yes", "No"] } },
  ]);
  await visit(inbox, `#/runs/${id}`);
  await expect(inbox.locator(step("plan"))).toContainText(
    "Questions: a person answers; after 1 hour the first option of every question is taken (the default)",
  );
  await expect(inbox.locator(step("go"))).toContainText("Publish the release?");
  await expect(inbox.locator(step("go"))).toHaveAttribute("data-status", "pending");
});

test("a run that was started elsewhere appears automatically, and can be cancelled", async ({ inbox, server }) => {
  await visit(inbox, "#/runs");
  await expect(inbox.getByText("sayso workflow run FILE")).toBeVisible();
  const { id } = await server.run("wait", [
    { id: "ask", agent: "mock", prompt: "ask me a question", questions: "forward" },
  ]);
  await expect(inbox.locator(step("ask"))).toHaveAttribute("data-status", "waiting");
  await expect(inbox.getByRole("link", { name: "Runs" })).toContainText("1");
  await inbox.getByRole("button", { name: "Cancel run" }).click();
  await expect(inbox.locator(".detail .bar .chip")).toHaveText("cancelled");
  await expect(inbox.locator(step("ask"))).toHaveAttribute("data-status", "cancelled");
  await expect(card(inbox)).toHaveAttribute("data-state", "withdrawn");
  expect((await server.api<{ status: string }>("GET", `/runs/${id}`)).status).toBe("cancelled");
});

test("a failed run shows the reason, also in Chinese, and a small screen shows one pane at a time", async ({
  page,
  server,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const { id } = await server.run("fails", [{ id: "crash", agent: "mock", prompt: "crash" }]);
  await server.until(async () => (await server.api<{ status: string }>("GET", `/runs/${id}`)).status === "failed");
  await signIn(page, server, { language: "zh-CN" });
  await visit(page, "#/sessions");
  await page.locator('a[href="#/runs"]').filter({ visible: true }).click();
  await page.getByRole("link", { name: /fails/ }).click();
  await expect(page.locator(".detail .bar .chip")).toHaveText("失败");
  await expect(page.locator(`${step("crash")} > .wrong`)).not.toBeEmpty();
  await expect(page.locator(".runend")).toContainText(/^工作流失败：crash: ./);
  await expect(page.locator(".list")).toHaveCount(0);
  await page.locator(".back").click();
  await expect(page.locator(".row")).toContainText("停在 crash");
});
