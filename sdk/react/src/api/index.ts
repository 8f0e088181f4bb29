import type { components } from "./schema.gen";

type Schemas = components["schemas"];

/** One ask, as the server tells it. */
export type Ask = Schemas["Ask"];
export type Question = Schemas["Question"];
export type QuestionOption = Schemas["QuestionOption"];
export type Approval = Schemas["Approval"];
export type Preview = Schemas["Preview"];
export type FileDiff = Schemas["FileDiff"];
export type Outcome = Schemas["Outcome"];
export type Actor = Schemas["Actor"];
export type ShownAnswer = Schemas["ShownAnswer"];
export type Session = Schemas["Session"];
export type Problem = Schemas["Problem"];
export type { components } from "./schema.gen";

/** What a person decides. */
export type Decision =
  | { kind: "answer"; answers: string[][]; note?: string }
  | { kind: "reject"; message?: string; stop?: boolean }
  | { kind: "approve"; choice?: string; input?: Record<string, unknown> }
  | { kind: "deny"; message?: string; stop?: boolean };
