export type {
  Actor,
  Approval,
  Ask,
  AskFile,
  AskFiles,
  components,
  FileDiff,
  Outcome,
  Preview,
  Problem,
  Question,
  QuestionOption,
  Session,
  ShownAnswer,
  TextCode,
} from "@sayso/sdk";

/** The decision of a person. */
export type Decision =
  | { kind: "answer"; answers: string[][]; note?: string }
  | { kind: "reject"; message?: string; stop?: boolean }
  | { kind: "approve"; choice?: string; input?: Record<string, unknown>; contentDigest?: string }
  | { kind: "deny"; message?: string; stop?: boolean };
