import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing";
import { MockLanguageModelV4 } from "ai/test";

/** A tool call of the first turn. */
export interface Call {
  name: string;
  input: Record<string, unknown>;
  id: string;
}

export const send = (to: string, number = 1): Call => ({ name: "send_email", input: { to }, id: `call-${number}` });
export const ask = (question: string, options?: string[]): Call => ({
  name: "ask_person",
  input: { question, ...(options && { options }) },
  id: "call-9",
});

type Prompt = MockLanguageModelV4["doGenerateCalls"][number]["prompt"];

/** Makes the calls in its first turn, and is done when it reads results. `read` gets the results. */
export function aiModel(calls: readonly Call[], read: string[] = []): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const results = resultsOf(prompt);
      read.splice(0, read.length, ...results);
      if (results.length > 0) {
        const finishReason = { unified: "stop" as const, raw: undefined };
        return { content: [{ type: "text", text: "done" }], finishReason, usage, warnings: [] };
      }
      const finishReason = { unified: "tool-calls" as const, raw: undefined };
      const content = calls.map(({ name, input, id }) => {
        return { type: "tool-call" as const, toolCallId: id, toolName: name, input: JSON.stringify(input) };
      });
      return { content, finishReason, usage, warnings: [] };
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

/** The same for the OpenAI Agents SDK. */
export function openaiModel(calls: readonly Call[]): ScriptedModel {
  return new ScriptedModel([
    ...(calls.length > 0 ? [calls.map(({ name, input, id }) => functionCall(name, input, { callId: id }))] : []),
    modelResponder(() => [assistantMessage("done")]),
  ]);
}
