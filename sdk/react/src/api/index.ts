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
} from "@sayso/sdk";

/** What a person decides. */
export type Decision =
  | { kind: "answer"; answers: string[][]; note?: string }
  | { kind: "reject"; message?: string; stop?: boolean }
  | { kind: "approve"; choice?: string; input?: Record<string, unknown>; contentDigest?: string }
  | { kind: "deny"; message?: string; stop?: boolean };
