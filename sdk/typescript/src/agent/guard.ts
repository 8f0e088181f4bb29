import { InvalidSchemaError, SaysoError } from "../errors.js";
import { type AgentClient, defaultClient } from "./client.js";
import { ServerTooOldError } from "./http.js";
import type { Decision } from "./results.js";

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>;

/** The arguments of a tool call as an object, which cards show. */
export function argumentsOf(input: unknown): Record<string, unknown> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? (input as Record<string, unknown>) : { arguments: input };
}

/** The options of a call that waits, which a restarted program continues if the run has a name. */
export const callOptions = (runKey: string | undefined, toolCallId: string | undefined) => ({
  ...(runKey !== undefined && toolCallId !== undefined && { key: `${runKey}:${toolCallId}` }),
  toolCallId,
});

/** A call of a tool whose arguments people can edit. */
export interface GuardedCall {
  client: AgentClient | undefined;
  runKey: string | undefined;
  tool: string;
  toolCallId: string | undefined;
  input: unknown;
  inputSchema: JsonSchema | undefined;
  signal: AbortSignal | undefined;
}

/** Asks for permission to call a tool, with arguments that people can edit. */
export function approveCall(call: GuardedCall): Promise<Decision> {
  const { client = defaultClient(), runKey, tool, toolCallId, input, inputSchema, signal } = call;
  const ask = { ...callOptions(runKey, toolCallId), signal, editable: true };
  return withSchema((inputSchema) => client.approve(tool, argumentsOf(input), { ...ask, inputSchema }), inputSchema);
}

/** Makes a call with the schemas of tools. If the server cannot use them, for example because one refers to itself, makes it
 * without them: the tool validates edited arguments as well. */
export async function withSchema<Schema, T>(
  call: (schema: Schema | undefined) => Promise<T>,
  schema: Schema | undefined,
): Promise<T> {
  if (schema === undefined) return call(undefined);
  try {
    return await call(schema);
  } catch (error) {
    if (!isRefusedSchema(error)) throw error;
    return call(undefined);
  }
}

const isRefusedSchema = (error: unknown): boolean =>
  error instanceof InvalidSchemaError ||
  error instanceof ServerTooOldError ||
  (error instanceof SaysoError && error.code === "limit_exceeded");

/** Precedes the result of a tool whose arguments a person edited, because the message of the model keeps the original ones. */
export const editNotice = (input: object): string =>
  `The user changed the arguments of this call to ${JSON.stringify(input)}. Result: `;
