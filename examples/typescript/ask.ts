// Asks a person a question and waits for the answer, however long it takes.
// Run it with `node examples/typescript/ask.ts`, then answer with `sayso next`.

import { Sayso } from "@sayso/sdk";

const { SAYSO_URL: baseUrl = "http://127.0.0.1:4517", SAYSO_TOKEN: token = "" } = process.env;
const sayso = Sayso.connect({ baseUrl, token });

const ask = await sayso.asks.open({
  title: "Nightly backup",
  questions: [{ header: "Target", text: "Where should the backup go?", options: [{ label: "NAS" }, { label: "S3" }] }],
});
const { outcome } = await sayso.asks.wait(ask.id);
const [answer] = outcome?.answers ?? [];
console.log(Array.isArray(answer) ? `Backing up to ${answer.join(", ")}` : "No answer, no backup");
sayso.close();
