import { card, expect, test, visit } from "./fixtures";

const MARKUP = [
  "<script>boom()</script>",
  "<img src=x onerror=boom()>",
  "<svg onload=boom()>",
  "<iframe srcdoc='<script>parent.boom()</script>'></iframe>",
  "<a href=javascript:boom()>x</a>",
  "[x](javascript:boom())",
  "![x](x onerror=boom())",
  "<style>*{display:none}</style>",
  "<base href=https://evil.example/>",
  "<form action=javascript:boom()><button>x</button></form>",
  "<details open ontoggle=boom()>",
  "<math><mtext></table><img src=x onerror=boom()>",
  "{{constructor.constructor('boom()')()}}",
  "$" + "{boom()}",
  "</textarea><script>boom()</script>",
  "</title><script>boom()</script>",
  '"><script>boom()</script>',
  "' onfocus=boom() autofocus '",
  "javascript:boom()",
  "data:text/html,<script>boom()</script>",
];
const WRAPS: ((text: string) => string)[] = [
  (text) => text,
  (text) => `\`${text}\``,
  (text) => `# ${text}`,
  (text) => `- ${text}\n  - ${text}`,
  (text) => `\`\`\`\n${text}\n\`\`\``,
  (text) => `**${text}**`,
  (text) => `\u202e${text}\u202c`,
  (text) => text.split("").join("\u200b"),
  (text) => `\u001b]8;;${text}\u0007x\u001b]8;;\u0007`,
  (text) => `${text}\u0000\ufeff\u{e0041}`,
];
const start = (text: string, length: number) => [...text].slice(0, length).join("");
const TEXTS = MARKUP.flatMap((text) => WRAPS.map((wrap) => wrap(text)));

test(`none of ${TEXTS.length} hostile texts is executed or hidden`, async ({ inbox, server }) => {
  test.setTimeout(240_000);
  expect(TEXTS.length).toBeGreaterThanOrEqual(200);
  const trouble: string[] = [];
  await inbox.exposeFunction("boom", () => trouble.push("boom"));
  inbox.on("dialog", (dialog) => trouble.push(dialog.message()));
  inbox.on("request", (request) => new URL(request.url()).origin === server.url || trouble.push(request.url()));
  inbox.on("popup", () => trouble.push("popup"));
  for (const [index, text] of TEXTS.entries()) {
    const preview = { type: "plan", text };
    // Each text is a question; each card has five questions.
    if (index % 5 === 0)
      await server.ask({
        title: text,
        context: text,
        questions: TEXTS.slice(index, index + 5).map((one) => ({
          header: start(one, 40),
          text: one,
          options: [{ label: one, description: one, preview: one }],
        })),
      });
    await server.ask({
      title: text,
      approval: { tool: start(text, 60), action: "run", command: text, title: text, input: { command: text }, preview },
    });
  }
  for (const text of MARKUP) {
    await server.ask({ questions: [{ text, options: [{ label: text, preview: text }] }] });
    await server.ask({ link: { url: text, message: text } }).catch(() => undefined);
  }
  const asks = await server.pending();
  for (const ask of asks) {
    await visit(inbox, `#/inbox/${ask.id}`);
    await expect(card(inbox)).toHaveAttribute("data-ask", ask.id);
  }
  const foreign = await card(inbox)
    .locator("script, img, iframe, svg[onload], style, base, form, a[href^='javascript']")
    .count();
  expect([trouble, foreign, asks.length >= 260]).toEqual([[], 0, true]);
});

test("the headers are strict", async ({ server }) => {
  const headers = (await fetch(server.url)).headers;
  expect(headers.get("content-security-policy")).toContain("default-src 'self'; script-src 'self'");
  expect([headers.get("content-type"), headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
    "text/html; charset=utf-8",
    "no-cache",
    "nosniff",
  ]);
  const script = /assets\/index-[^"]+\.js/.exec(await (await fetch(server.url)).text())?.[0] ?? "";
  expect((await fetch(`${server.url}/${script}`)).headers.get("cache-control")).toBe(
    "public, max-age=31536000, immutable",
  );
});
