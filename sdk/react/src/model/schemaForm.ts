import type { Ask } from "../api";

/** A field of the form for an input with a simple schema. */
export interface FormField {
  name: string;
  title: string;
  description: string | undefined;
  kind: "text" | "number" | "boolean" | "choice";
  /** The values of a choice. */
  options: (string | number)[];
  required: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
}

type Values = Record<string, unknown>;

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords that describe an object, a field or both, and that a form can show or leave to the server. */
const OBJECT = new Set("$schema $id title description type properties required additionalProperties".split(" "));
const FIELD = new Set(
  "title description type enum minimum maximum minLength maxLength pattern format default examples".split(" "),
);
const hasOnly = (schema: Values, known: Set<string>) => Object.keys(schema).every((key) => known.has(key));

/**
 * The fields of a form for the input of an approval. Undefined if the schema is not one flat object, or if the input has
 * values that the form would not show: such an input is edited as JSON.
 */
export function formFields({ approval }: Ask): FormField[] | undefined {
  const schema: unknown = approval?.inputSchema;
  const input: unknown = approval?.input;
  if (!isObject(schema) || !isObject(input) || schema.type !== "object" || !hasOnly(schema, OBJECT)) return undefined;
  const { properties } = schema;
  if (!isObject(properties) || Object.keys(input).some((name) => !Object.hasOwn(properties, name))) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  // The server sorts the names of properties. `required` keeps the order of its author.
  const names = new Set([...required.filter((name) => Object.hasOwn(properties, name)), ...Object.keys(properties)]);
  const fields = [...names].map((name) => fieldOf(name, properties[name], required.includes(name)));
  const all = fields.flatMap((field) => field ?? []);
  const shows = all.every((field) => input[field.name] === undefined || fits(field, input[field.name]));
  return all.length > 0 && all.length === fields.length && shows ? all : undefined;
}

function fieldOf(name: string, schema: unknown, required: boolean): FormField | undefined {
  if (!isObject(schema) || !hasOnly(schema, FIELD)) return undefined;
  const kind = kindOf(schema);
  if (!kind) return undefined;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const number = (value: unknown) => (typeof value === "number" ? value : undefined);
  return {
    name,
    title: text(schema.title) ?? name,
    description: text(schema.description),
    kind,
    options: kind === "choice" ? (schema.enum as (string | number)[]) : [],
    required,
    minimum: number(schema.minimum),
    maximum: number(schema.maximum),
  };
}

function kindOf({ type, enum: options }: Values): FormField["kind"] | undefined {
  if (options !== undefined) {
    const isSimple = (value: unknown) => typeof value === "string" || typeof value === "number";
    return Array.isArray(options) && options.every(isSimple) ? "choice" : undefined;
  }
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return "number";
  return type === "boolean" ? "boolean" : undefined;
}

function fits({ kind, options }: FormField, value: unknown): boolean {
  if (kind === "choice") return options.includes(value as string);
  return typeof value === (kind === "text" ? "string" : kind);
}

/** The values that the edited text contains. */
export function formValues(text: string): Values {
  const values: unknown = JSON.parse(text);
  return isObject(values) ? values : {};
}

/** The edited text with one value changed. An empty optional field is left out. */
export function withValue(text: string, { name, kind, options, required }: FormField, typed: string | boolean): string {
  const values = formValues(text);
  if (typed === "" && !required) delete values[name];
  else if (kind === "choice") values[name] = options.find((option) => String(option) === typed) ?? typed;
  // An invalid number stays text, so that the person can correct it.
  else if (kind === "number") values[name] = isNumber(typed) ? Number(typed) : typed;
  else values[name] = typed;
  return JSON.stringify(values, null, 2);
}

const isNumber = (typed: string | boolean): boolean =>
  typeof typed === "string" && typed.trim() !== "" && Number.isFinite(Number(typed));

/** Whether a value is missing, or a number is invalid. Everything else is validated by the server. */
export function fieldProblem(field: FormField, value: unknown): "missing" | "number" | undefined {
  const { kind, options, required, minimum = -Infinity, maximum = Infinity } = field;
  if (value === undefined) return required ? "missing" : undefined;
  if (kind === "choice") return options.includes(value as string) ? undefined : "missing";
  const isRight = kind !== "number" || (typeof value === "number" && value >= minimum && value <= maximum);
  return isRight ? undefined : "number";
}
