import { SaysoError } from "../errors.js";
import { Http, type Query, type RequestOptions } from "../http.js";

/** The server does not have this feature. */
export class ServerTooOldError extends SaysoError {
  override readonly name = "ServerTooOldError";
}

/** What to do about an error, by its code or else by its status. */
const NEXT_STEPS: Record<string, string> = {
  connection_lost: "Check that the server runs: sayso status.",
  ask_already_resolved: "Use the outcome in `outcome`.",
  invalid_answers: "Correct the answers listed in `problems`.",
  invalid_input: "Correct the input at the paths that the message names.",
  invalid_schema: "Correct the schema, or ask without it.",
  decision_not_allowed: "Choose one of its `allowedDecisions`.",
  dedupe_key_reused: "Use a key that is unique to the call, for example run id and tool call id.",
  outcome_taken: "Do not call the tool: the other program does. Repeat a run in one program at a time.",
  group_not_ready: "Wait until it is ready: groups.ready(name, 30).",
  group_ended: "Do not resume the run; read its `status`.",
  claim_lost: "Stop the run. Renew the lease in time, or take a longer one.",
  state_unreadable: "Restore state.key of the server's data directory, or start the run anew.",
  unknown_callback: "Ask an admin to add [callbacks.NAME] to config.toml.",
  400: "Correct the request; nothing was stored.",
  401: "Create a new token: sayso token create my-app --role agent.",
  403: "Use a token with the role `agent` that may use this agent name, project and labels.",
  404: "Check the id. An agent token sees only what it opened.",
  409: "Read the resource again before you decide.",
  413: "Send less; nothing was stored.",
  421: "Use an address that the server serves.",
  422: "Correct the request; nothing was stored.",
  429: "Try again in a few minutes.",
};

const withStep = (message: string, step: string) => `${message.replace(/\.$/, "")}. ${step}`;

/** Whether the server does not know the route or a field. It refuses unknown fields, so it never ignores one. */
function isTooOld({ code, status, problem: { detail = "" } }: SaysoError): boolean {
  if (status === 404) return code === "not_found" && detail.includes("no such route");
  return status === 405 || (code === "invalid_request" && detail.includes("unknown field"));
}

/** The error, with a message that ends with the next step. */
function explained(error: unknown): unknown {
  if (!(error instanceof SaysoError)) return error;
  const { code, message, status, problem } = error;
  if (isTooOld(error)) {
    return new ServerTooOldError(code, withStep(message, "Upgrade the server, then try again."), status, problem);
  }
  const step =
    NEXT_STEPS[code] ?? NEXT_STEPS[status] ?? (status >= 500 ? "Read the log of the server: sayso logs." : "");
  if (step) error.message = withStep(message, step);
  return error;
}

/** The calls of a program that asks. Its errors name the next step. */
export class AgentHttp extends Http {
  override async open(path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    try {
      return await super.open(path, query, signal);
    } catch (error) {
      throw explained(error);
    }
  }

  override async request<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
    try {
      return await super.request(method, path, options);
    } catch (error) {
      throw explained(error);
    }
  }
}
