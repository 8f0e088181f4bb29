import { spanWords } from "@sayso/react";
import type { ApprovalDefaults, PolicyForm, QuestionDefaults } from "../api/client";
import { useCardWords, useWords, type Words } from "../i18n";
import { effectWords } from "./policyRule";

const QUESTIONS = ["forward", "auto", "accept-first", "reject"] as const;
const APPROVALS = ["ask", "allow", "deny"] as const;
const WAITS = ["5m", "10m", "15m", "30m", "1h", "4h"];

/** The labels of the question policies. */
export function questionWords(t: Words, policy: (typeof QUESTIONS)[number]): string {
  if (policy === "forward") return t("verdict.ask");
  return policy === "reject" ? t("verdict.reject") : t(`policy.question.${policy}`);
}

interface DefaultsProps {
  questions: QuestionDefaults;
  approvals: ApprovalDefaults;
  /** A profile can leave a setting unchanged. */
  isProfile?: boolean;
  readOnly: boolean;
  onChange: (next: Pick<PolicyForm, "questions" | "approvals">) => void;
}

/** The settings for questions and approvals that no rule matches. */
export function PolicyDefaults({ questions, approvals, isProfile = false, readOnly, onChange }: DefaultsProps) {
  const t = useWords();
  const setQuestions = (policy: string, timeout: string | undefined, onTimeout: QuestionDefaults["onTimeout"]) => {
    const { message } = questions;
    const waits = (policy === "forward" || policy === "") && timeout;
    onChange({
      approvals,
      questions: {
        ...(policy && { policy: policy as (typeof QUESTIONS)[number] }),
        ...(waits && { timeout, onTimeout: onTimeout ?? "reject" }),
        ...(message && { message }),
      },
    });
  };
  const setApprovals = (policy: string, timeout: string | undefined) => {
    const { message } = approvals;
    const waits = (policy === "ask" || policy === "") && timeout;
    onChange({
      questions,
      approvals: {
        ...(policy && { policy: policy as (typeof APPROVALS)[number] }),
        ...(waits && { timeout }),
        ...(message && { message }),
      },
    });
  };
  const questionPolicy = questions.policy ?? (isProfile ? "" : "forward");
  const approvalPolicy = approvals.policy ?? (isProfile ? "" : "ask");
  return (
    <fieldset className="box twohalves" disabled={readOnly}>
      <div>
        <span className="muted">{t("policy.questions")}</span>
        <div className="hstack wraps">
          <Choice
            label={t("policy.questions")}
            value={questionPolicy}
            options={QUESTIONS.map((value) => ({ value, label: questionWords(t, value) }))}
            asBefore={isProfile}
            onChange={(policy) => setQuestions(policy, questions.timeout ?? undefined, questions.onTimeout)}
          />
          {(questionPolicy === "forward" || questionPolicy === "") && (
            <Wait
              label={t("policy.questionWait")}
              value={questions.timeout ?? undefined}
              asBefore={isProfile}
              onChange={(timeout) => setQuestions(questions.policy ?? "", timeout, questions.onTimeout)}
            />
          )}
          {questions.timeout && (
            <Choice
              label={t("policy.questionThen")}
              value={questions.onTimeout ?? "reject"}
              options={(["reject", "accept-first"] as const).map((value) => ({
                value,
                label: t(`policy.late.${value}`),
              }))}
              onChange={(then) =>
                setQuestions(
                  questions.policy ?? "",
                  questions.timeout ?? undefined,
                  then as QuestionDefaults["onTimeout"],
                )
              }
            />
          )}
        </div>
      </div>
      <div>
        <span className="muted">{t("policy.approvals")}</span>
        <div className="hstack wraps">
          <Choice
            label={t("policy.approvals")}
            value={approvalPolicy}
            options={APPROVALS.map((value) => ({ value, label: t(effectWords(value)) }))}
            asBefore={isProfile}
            onChange={(policy) => setApprovals(policy, approvals.timeout ?? undefined)}
          />
          {(approvalPolicy === "ask" || approvalPolicy === "") && (
            <Wait
              label={t("policy.approvalWait")}
              value={approvals.timeout ?? undefined}
              asBefore={isProfile}
              onChange={(timeout) => setApprovals(approvals.policy ?? "", timeout)}
            />
          )}
          {approvals.timeout && <span className="soft">{t("policy.late.deny")}</span>}
        </div>
      </div>
    </fieldset>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  asBefore?: boolean;
  onChange: (value: string) => void;
}

function Choice({ label, value, options, asBefore, onChange }: ChoiceProps) {
  const t = useWords();
  return (
    <select className="btn select" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {asBefore && <option value="">{t("policy.asBefore")}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

interface WaitProps {
  label: string;
  value: string | undefined;
  asBefore: boolean;
  onChange: (value: string | undefined) => void;
}

/** How long to wait for an answer. */
function Wait({ label, value, asBefore, onChange }: WaitProps) {
  const t = useWords();
  const words = useCardWords();
  const lengths = value && !WAITS.includes(value) ? [value, ...WAITS] : WAITS;
  return (
    <select
      className="btn select"
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{t(asBefore ? "policy.asBefore" : "policy.waitForever")}</option>
      {lengths.map((length) => (
        <option key={length} value={length}>
          {t("policy.wait", { time: spanWords(words, length) })}
        </option>
      ))}
    </select>
  );
}
