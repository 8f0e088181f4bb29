// A program that waits for an approval. Prints what the model read.
import { appendFileSync } from "node:fs";
import { FORMS } from "./forms.ts";
import { send } from "./models.ts";

const [form = ""] = process.argv.slice(2);
const read = await FORMS[form]?.run([send("ada")], {
  send(to) {
    appendFileSync("sent.txt", `${to}\n`);
    return `sent to ${to}`;
  },
});
console.log(JSON.stringify(read));
