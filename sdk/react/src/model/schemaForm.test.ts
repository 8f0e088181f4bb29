import { describe, expect, it } from "vitest";
import { anApproval } from "../test/asks";
import { fieldProblem, formFields, withValue } from "./schemaForm";

const email = {
  type: "object",
  required: ["to", "copies"],
  additionalProperties: false,
  properties: {
    to: { type: "string", title: "Recipient", description: "A company address", pattern: "@example\\.com$" },
    copies: { type: "integer", minimum: 1, maximum: 3 },
    urgent: { type: "boolean" },
    format: { enum: ["text", "html", 3] },
  },
};
const approval = (inputSchema: object, input: object = { to: "ada@example.com", copies: 1 }) =>
  anApproval({ tool: "send_email", action: "other", editable: true, inputSchema, input } as never);

describe("a form for a schema", () => {
  it("has a field per property of a flat object", () => {
    const none = { description: undefined, options: [], required: false, minimum: undefined, maximum: undefined };
    expect(formFields(approval(email))).toEqual([
      { ...none, name: "to", title: "Recipient", description: "A company address", kind: "text", required: true },
      { ...none, name: "copies", title: "copies", kind: "number", required: true, minimum: 1, maximum: 3 },
      { ...none, name: "urgent", title: "urgent", kind: "boolean" },
      { ...none, name: "format", title: "format", kind: "choice", options: ["text", "html", 3] },
    ]);
  });

  it("starts with the required properties in the order of their author", () => {
    const { to, copies, urgent, format } = email.properties;
    const sorted = { ...email, properties: { copies, format, to, urgent } };
    expect(formFields(approval(sorted))?.map((field) => field.name)).toEqual(["to", "copies", "format", "urgent"]);
  });

  it("is not made of anything that it would not show completely", () => {
    const { properties } = email;
    for (const ask of [
      approval({}),
      approval({ ...email, type: "array" }),
      approval({ ...email, anyOf: [{ required: ["to"] }] }),
      approval({ ...email, properties: { ...properties, to: { $ref: "#/$defs/to" } } }),
      approval({ ...email, properties: { ...properties, to: { type: ["string", "null"] } } }),
      approval({ ...email, properties: { ...properties, cc: { type: "array", items: { type: "string" } } } }),
      approval({ ...email, properties: {} }, {}),
      approval(email, { to: "ada@example.com", copies: 1, bcc: "eve" }),
      approval(email, { to: 7, copies: 1 }),
      anApproval(),
    ])
      expect(formFields(ask)).toBeUndefined();
  });

  it("changes one value and keeps the others", () => {
    const fields = formFields(approval(email)) ?? [];
    const set = (text: string, name: string, typed: string | boolean) =>
      withValue(text, fields.find((field) => field.name === name) as never, typed);
    let text = set('{"to":"ada@example.com","copies":1}', "copies", "2");
    text = set(text, "urgent", true);
    text = set(text, "format", "3");
    expect(JSON.parse(text)).toEqual({ to: "ada@example.com", copies: 2, urgent: true, format: 3 });
    expect(JSON.parse(set(text, "format", ""))).toEqual({ to: "ada@example.com", copies: 2, urgent: true });
    expect(JSON.parse(set(text, "copies", "two"))).toMatchObject({ copies: "two" });
    expect(text).toBe(JSON.stringify(JSON.parse(text), null, 2));
  });

  it("finds missing values and invalid numbers", () => {
    const [to, copies, urgent, format] = formFields(approval(email)) ?? [];
    const problem = (field: typeof to, value: unknown) => field && fieldProblem(field, value);
    expect([problem(to, undefined), problem(to, ""), problem(to, "x")]).toEqual(["missing", undefined, undefined]);
    expect([problem(copies, 4), problem(copies, "two"), problem(copies, 3)]).toEqual(["number", "number", undefined]);
    expect([problem(urgent, undefined), problem(format, undefined), problem(format, "pdf")]).toEqual([
      undefined,
      undefined,
      "missing",
    ]);
  });
});
