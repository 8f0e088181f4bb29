import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ask } from "@sayso/react";
import { open } from "./asks";
import { card, expect, pressOnCard, signIn, test, visit } from "./fixtures";
import { commandApproval } from "./scene";
import type { Server } from "./server";

// Files that a command executes: the card shows them, and an approval covers only the content that it showed.

const STAGING = "#!/bin/sh\necho to staging\n";
/** The first digits that `b3sum` prints for it. */
const STAGING_DIGEST = "f6c8f2980ace";
const PRODUCTION = "#!/bin/sh\necho to production\n";
const REFUSED = "Not approved: a file that this command executes has changed. Review it again.";

const writeScript = (server: Server, text: string) => writeFileSync(join(server.project(), "deploy.sh"), text);

/** Writes `deploy.sh` into the project and starts a session whose agent wants to run it. */
async function askToDeploy(server: Server): Promise<Ask> {
  writeScript(server, STAGING);
  const session = await server.session("deploy");
  return server.asked(session.id);
}

test("a script that a command executes is on the card, and approving it runs it", async ({ inbox, server }) => {
  const ask = await askToDeploy(server);
  await open(inbox, ask.id);
  const files = card(inbox).getByRole("region", { name: "Executes", exact: true });
  await expect(files.locator(".fname")).toHaveText(`${join(server.project(), "deploy.sh")} ${STAGING_DIGEST}`);
  await expect(files.locator("pre")).toHaveText(STAGING);
  await expect(files).toContainText("The agent can still change these files after you approve.");
  await expect(files).not.toContainText("Content not available");
  await expect(files).not.toContainText("Runs code from the project");
  await pressOnCard(inbox, "a");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await visit(inbox, `#/sessions/${ask.sessionId}`);
  await expect(inbox.getByRole("log")).toContainText("Approved: ./deploy.sh");
});

test("a script that changed before the decision is approved only after the card showed the change", async ({
  inbox,
  server,
}) => {
  const ask = await askToDeploy(server);
  await open(inbox, ask.id);
  const files = card(inbox).getByRole("region", { name: "Executes", exact: true });
  await expect(files.locator("pre")).toHaveText(STAGING);
  writeScript(server, PRODUCTION);
  const refusal = inbox.waitForResponse((response) => response.url().endsWith(`/v1/asks/${ask.id}/approve`));
  await pressOnCard(inbox, "a");
  const response = await refusal;
  expect([response.status(), (await response.json()).code]).toEqual([409, "content_changed"]);

  await expect(card(inbox).getByRole("alert")).toHaveText(REFUSED);
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await expect(files).toContainText("Changed since you looked");
  await expect(files.locator(".dl[data-kind=del]")).toContainText(["echo to staging"]);
  await expect(files.locator(".dl[data-kind=add]")).toContainText(["echo to production"]);
  await expect(files.locator("pre")).toHaveText(PRODUCTION);
  expect((await server.readAsk(ask.id)).status).toBe("pending");

  await pressOnCard(inbox, "a");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await visit(inbox, `#/sessions/${ask.sessionId}`);
  await expect(inbox.getByRole("log")).toContainText("Approved: ./deploy.sh");
});

test("a script that changed can still be denied", async ({ inbox, server }) => {
  const ask = await askToDeploy(server);
  await open(inbox, ask.id);
  await expect(card(inbox).locator(".files pre")).toHaveText(STAGING);
  writeScript(server, PRODUCTION);
  await pressOnCard(inbox, "a");
  await expect(card(inbox).getByRole("alert")).toHaveText(REFUSED);
  await card(inbox).getByRole("button", { name: "Deny", exact: true }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "rejected");
  expect((await server.readAsk(ask.id)).status).toBe("denied");
});

test("viewers see which script runs, but never its content", async ({ page, server }) => {
  const ask = await askToDeploy(server);
  const reads: string[] = [];
  const bodies: Promise<string>[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/files")) reads.push(request.url());
  });
  // Bodies of event streams do not end, so only JSON replies are read.
  page.on("response", (response) => {
    if (response.headers()["content-type"]?.includes("json")) bodies.push(response.text().catch(() => ""));
  });
  await signIn(page, server, { holdMs: 0 }, "viewer");
  await open(page, ask.id);
  const files = card(page).getByRole("region", { name: "Executes", exact: true });
  await expect(files.locator(".fname")).toHaveText(join(server.project(), "deploy.sh"));
  await expect(files).toContainText("Content not available");
  for (const place of [`#/sessions/${ask.sessionId}`, `#/sessions/${ask.sessionId}/events`]) {
    await visit(page, place);
    await expect(page.getByText("deploy.sh").first()).toBeVisible();
    await expect(page.getByText("to staging")).toHaveCount(0);
  }
  expect(reads).toEqual([]);
  const replies = await Promise.all(bodies);
  expect(replies.some((text) => text.includes("deploy.sh"))).toBe(true);
  expect(replies.filter((text) => text.includes("to staging"))).toEqual([]);
});

test("an ask of a program lists scripts without content, and its token cannot read them", async ({ inbox, server }) => {
  writeScript(server, STAGING);
  const { token } = await server.api<{ token: string }>("POST", "/tokens", { role: "agent", actor: "program" });
  const body = { project: server.project(), approval: commandApproval("bash deploy.sh && make") };
  const ask = await server.api<Ask>("POST", "/asks", body, token);
  await open(inbox, ask.id);
  const files = card(inbox).getByRole("region", { name: "Executes", exact: true });
  await expect(files.locator(".fname")).toHaveText(join(server.project(), "deploy.sh"));
  await expect(files).toContainText("Content not available");
  await expect(files).toContainText("Runs code from the project");
  await expect(files).not.toContainText("to staging");
  // An agent token cannot read the script of a session either.
  const deploy = await askToDeploy(server);
  for (const { id } of [ask, deploy]) {
    await expect(server.api("GET", `/asks/${id}/files`, undefined, token)).rejects.toThrow("403");
  }
});
