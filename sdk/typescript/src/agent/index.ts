import { type AgentClient, defaultClient } from "./client.js";

export {
  AgentClient,
  type AgentOptions,
  type ApprovalOptions,
  type AskOptions,
  type Option,
  type QuestionOptions,
  type WaitOptions,
} from "./client.js";
export { NoServerError, NoTokenError } from "./discover.js";
export { ServerTooOldError } from "./http.js";
export { type Decision, QuestionRejectedError, RepeatedCallError, RunClaim, SecretLostError } from "./results.js";
export { type Resume, type ResumeOptions, resumeAll, resumer } from "./resumer.js";
export { StateError, Suspended, type SuspendOptions } from "./suspend.js";

/** Asks one question on the server of this machine. See {@link AgentClient.ask}. */
export const ask: typeof AgentClient.prototype.ask = (...args) => defaultClient().ask(...args);
/** Lets the person choose any number of options. See {@link AgentClient.select}. */
export const select: typeof AgentClient.prototype.select = (...args) => defaultClient().select(...args);
/** Asks a question that is answered with yes or no. See {@link AgentClient.confirm}. */
export const confirm: typeof AgentClient.prototype.confirm = (...args) => defaultClient().confirm(...args);
/** Asks for permission to call a tool. See {@link AgentClient.approve}. */
export const approve: typeof AgentClient.prototype.approve = (...args) => defaultClient().approve(...args);
