import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing";
import { MockLanguageModelV4 } from "ai/test";

/** A tool call of the model. */
export interface Call {
  name: string;
  input: Record<string, unknown>;
  id: string;
  /** The turn of the model; the first one by default. */
  turn?: number;
}

export const send = (to: string, number = 1, turn = 1): Call => ({
  name: "send_email",
  input: { to },
  id: `call-${number}`,
  turn,
});
export const ask = (question: string, options?: string[]): Call => ({
  name: "ask_person",
  input: { question, ...(options && { options }) },
  id: "call-9",
});

/** The calls that follow this many results: those of one turn, or none at the end. */
function nextCalls(calls: readonly Call[], results: number): Call[] {
  const left = calls.slice(results);
  return left.filter(({ turn = 1 }) => turn === (left[0]?.turn ?? 1));
}

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;
type Prompt = MockLanguageModelV4["doGenerateCalls"][number]["prompt"];

/** Makes the calls turn by turn, and is done when it has all results. `read` gets the results. */
export function aiModel(calls: readonly Call[], read: string[] = []): MockLanguageModelV4 {
  const reply = (prompt: Prompt): Generated => {
    const results = resultsOf(prompt);
    read.splice(0, read.length, ...results);
    const made = nextCalls(calls, results.length);
    const toolCalls = made.map(({ name, input, id }) => {
      return { type: "tool-call" as const, toolCallId: id, toolName: name, input: JSON.stringify(input) };
    });
    return {
      content: made.length > 0 ? toolCalls : [{ type: "text", text: "done" }],
      finishReason: { unified: made.length > 0 ? "tool-calls" : "stop", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      },
      warnings: [],
    };
  };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => reply(prompt),
    doStream: async ({ prompt }) => ({ stream: streamOf(reply(prompt)) }),
  });
}

function streamOf({ content, finishReason, usage }: Generated): ReadableStream<StreamPart> {
  const parts = content.flatMap((part): StreamPart[] => {
    if (part.type === "tool-call") return [part];
    if (part.type !== "text") return [];
    const { text } = part;
    return [
      { type: "text-start", id: "text" },
      { type: "text-delta", id: "text", delta: text },
      { type: "text-end", id: "text" },
    ];
  });
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      for (const part of parts) controller.enqueue(part);
      controller.enqueue({ type: "finish", finishReason, usage });
      controller.close();
    },
  });
}

/** What the model reads about its tool calls. */
function resultsOf(prompt: Prompt): string[] {
  return prompt.flatMap((message) => {
    if (message.role !== "tool") return [];
    return message.content.flatMap((part) => {
      if (part.type !== "tool-result") return [];
      const { output } = part;
      return [String(output.type === "execution-denied" ? output.reason : output.value)];
    });
  });
}

/** The most turns of a scripted model. */
const TURNS = 10;

/** The same for the OpenAI Agents SDK. */
export function openaiModel(calls: readonly Call[]): ScriptedModel {
  const turn = modelResponder(({ request: { input } }) => {
    const items = typeof input === "string" ? [] : input;
    const made = nextCalls(calls, items.filter(({ type }) => type === "function_call_result").length);
    if (made.length === 0) return [assistantMessage("done")];
    return made.map(({ name, input, id }) => functionCall(name, input, { callId: id }));
  });
  return new ScriptedModel(Array.from({ length: TURNS }, () => turn));
}
