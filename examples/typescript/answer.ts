// Starts an agent, answers its questions with their first option, and denies its approvals.
// Run it with `node examples/typescript/answer.ts`.

import { Sayso } from "@sayso/sdk";

const { SAYSO_URL: baseUrl = "http://127.0.0.1:4517", SAYSO_TOKEN: token = "" } = process.env;
const sayso = Sayso.connect({ baseUrl, token });

// The mock asks a question, an approval and another question.
const session = await sayso.sessions.create({ agent: "mock", prompt: "parallel" });

session.onQuestion(({ questions = [] }) =>
  questions.map(({ options = [] }) => options.slice(0, 1).map(({ label }) => label)),
);
session.onApproval(() => ({ deny: "Not now." }));

for await (const event of session.events({ since: 0 })) {
  if (event.type === "question.resolved" || event.type === "approval.resolved") console.log(event.data.status);
  if (event.type === "session.status" && event.data.status === "idle") break;
}
await session.close();
sayso.close();
