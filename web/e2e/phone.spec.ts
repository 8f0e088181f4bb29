import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Browser, devices } from "@playwright/test";
import { card, expect } from "./fixtures";
import { ADDRESS, type Machine, test } from "./namespace";
import { BINARY, Server } from "./server";

// `sayso phone` opens the server to the network of the machine, and the browser plays the phone.

interface Shown {
  url: string;
  address: string;
  secure: boolean;
}

/** Runs `sayso` on the machine. */
function sayso(machine: Machine, server: Server, ...args: string[]): string {
  const command = machine.command([BINARY, ...args, "--data-dir", join(server.home, "data")]);
  const env = { PATH: process.env.PATH, HOME: server.home, XDG_CONFIG_HOME: join(server.home, "config") };
  return String(execFileSync(...command, { env, stdio: "pipe" }));
}

/** A phone that is not signed in. */
const phone = async (browser: Browser, more: object = {}) => {
  const { defaultBrowserType: _, ...pixel } = devices["Pixel 7"];
  const page = await (await browser.newContext({ ...pixel, ...more })).newPage();
  await page.addInitScript(() => localStorage.setItem("sayso.prefs", JSON.stringify({ holdMs: 0 })));
  return page;
};

test("a phone in the same network signs in, answers, and is revoked immediately", async ({ browser, machine }) => {
  const server = await Server.start({ machine });
  try {
    // The server detects its own address in the network.
    const shown: Shown = JSON.parse(sayso(machine, server, "phone", "--yes", "--json"));
    expect(shown.address).toMatch(new RegExp(`^http://${ADDRESS}:\\d+$`));
    expect(shown.secure).toBe(false);
    server.url = shown.address;

    const page = await phone(browser);
    await page.goto(shown.url);
    await expect(page.locator(".app")).toBeVisible();
    await expect(page).not.toHaveURL(/code=/);
    const { data } = await server.api<{ data: { id: string; role: string; device?: string }[] }>("GET", "/tokens");
    const token = data.find((one) => one.device);
    expect(token).toMatchObject({ role: "answerer", device: "Chrome Android" });

    // The code works once.
    const thief = await phone(browser);
    await thief.goto(shown.url);
    await expect(thief.getByText("This link has expired or was already used")).toBeVisible();
    await expect(thief.getByText("sayso phone")).toBeVisible();

    const ask = await server.ask({
      questions: [{ text: "From the sofa?", options: [{ label: "Yes" }, { label: "No" }] }],
    });
    await page.getByText("From the sofa?").first().click();
    await card(page).getByRole("button", { name: "Yes" }).click();
    await server.until(async () => (await server.readAsk(ask.id)).status === "answered");
    expect((await server.readAsk(ask.id)).outcome?.by).toMatchObject({ kind: "person" });

    // The phone is signed out without any input, long before the stream's next heartbeat.
    await server.api("DELETE", `/tokens/${token?.id}`);
    await expect(page.getByText("This browser is not signed in")).toBeVisible({ timeout: 5_000 });

    sayso(machine, server, "phone", "--close");
    await expect(server.fetch(`${shown.address}/v1/health`)).rejects.toThrow();
  } finally {
    await server.stop();
  }
});

test("with a certificate the network has to use https, and the page is secure", async ({ browser, machine }) => {
  const server = await Server.start({ machine });
  const [cert, key] = [join(server.home, "cert.pem"), join(server.home, "key.pem")];
  const subject = ["-subj", "/CN=box", "-addext", `subjectAltName=IP:${ADDRESS}`];
  const files = ["-keyout", key, "-out", cert, "-days", "30", "-nodes"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", ...files, ...subject],
    {
      stdio: "pipe",
    },
  );
  try {
    server.configure(`[server]\ntls_cert = "${cert}"\ntls_key = "${key}"\n`);
    await server.restart();
    const shown: Shown = JSON.parse(sayso(machine, server, "phone", "--yes", "--json"));
    expect(shown).toMatchObject({ secure: true, address: expect.stringMatching(`^https://${ADDRESS}:`) });
    const plain = await server.fetch(`${shown.address.replace("https", "http")}/v1/health`);
    expect(plain).toEqual({ status: 400, text: "Use https here." });

    const page = await phone(browser, { ignoreHTTPSErrors: true });
    await page.goto(shown.url);
    await expect(page.locator(".app")).toBeVisible();
    expect(await page.evaluate(() => isSecureContext)).toBe(true);
  } finally {
    await server.stop();
  }
});
