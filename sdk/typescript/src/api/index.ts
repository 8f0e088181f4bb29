import type { components } from "./schema.gen.js";

type Schemas = components["schemas"];

/** One ask, as the server returns it. */
export type Ask = Schemas["Ask"];
export type AskPage = Schemas["AskPage"];
export type AskFiles = Schemas["AskFiles"];
export type AskFile = Schemas["AskFile"];
export type Question = Schemas["Question"];
export type QuestionOption = Schemas["QuestionOption"];
export type Approval = Schemas["Approval"];
export type Preview = Schemas["Preview"];
export type FileDiff = Schemas["FileDiff"];
export type Outcome = Schemas["Outcome"];
export type Actor = Schemas["Actor"];
/** The code of a text that the server wrote, for clients that show it in another language. */
export type TextCode = Schemas["TextCode"];
export type ShownAnswer = Schemas["ShownAnswer"];
export type Session = Schemas["Session"];
export type SessionPage = Schemas["SessionPage"];
export type NewSession = Schemas["NewSession"];
export type NewAsk = Schemas["NewAsk"];
export type NewToken = Schemas["NewToken"];
export type Token = Schemas["Token"];
export type CreatedToken = Schemas["CreatedToken"];
export type MessageAccepted = Schemas["MessageAccepted"];
export type Transcript = Schemas["Transcript"];
/** The asks of one pause of a suspended run. */
export type Group = Schemas["Group"];
export type NewGroup = Schemas["NewGroup"];
/** The right to resume one suspended run. */
export type Claim = Schemas["Claim"];
export type ClaimRequest = Schemas["ClaimRequest"];
/** One execution of a workflow. */
export type Run = Schemas["Run"];
export type RunPage = Schemas["RunPage"];
export type RunStep = Schemas["RunStep"];
export type RunQuestion = Schemas["RunQuestion"];
export type NewRun = Schemas["NewRun"];
export type WorkflowFile = Schemas["WorkflowFile"];
export type WorkflowStep = Schemas["WorkflowStep"];
export type Problem = Schemas["Problem"];
export type QuestionProblem = Schemas["QuestionProblem"];
/** An event of the gateway stream, `GET /v1/sessions/{id}/stream`. */
export type GatewayEvent = Schemas["GatewayEvent"];
/** A question in the gateway stream. */
export type QuestionItem = Schemas["QuestionItem"];
export type { components } from "./schema.gen.js";
