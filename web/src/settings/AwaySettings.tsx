import { spanWords, timeOrDate } from "@sayso/react";
import { Moon } from "lucide-react";
import { useState } from "react";
import type { PolicyForm } from "../api/client";
import { queries, useMutation } from "../api/useQuery";
import { useCardWords, useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { PolicyDefaults, questionWords } from "./PolicyDefaults";
import { effectWords } from "./policyRule";
import type { PolicyDraft } from "./usePolicyDraft";

const AWAY = "away";
const FIRST = {
  questions: { timeout: "15m", onTimeout: "reject" as const },
  approvals: { timeout: "15m" },
};

/** The settings of the profile `away`, and the button that turns it on. */
export function AwaySettings({ draft, form, readOnly }: { draft: PolicyDraft; form: PolicyForm; readOnly: boolean }) {
  const t = useWords();
  const client = useClient();
  const [open, setOpen] = useState(false);
  const away = form.profiles[AWAY];
  const active = draft.policy.data?.profile?.name === AWAY ? draft.policy.data.profile : undefined;
  const change = useMutation({
    mutationFn: (on: boolean) => client.profile(on ? { name: AWAY, for: "2h" } : { name: null }),
    onSettled: () => queries.invalidate(["policy"]),
  });
  const set = (next: Pick<PolicyForm, "questions" | "approvals">) =>
    void draft.change([{ kind: "setProfile", name: AWAY, ...next }]).catch(() => {});
  return (
    <>
      <h2 className="formhead">{t("policy.away")}</h2>
      <div className="box pad hstack wraps">
        <Moon size={16} aria-hidden="true" />
        <span className="grow">{away ? <AwayWords away={away} /> : t("policy.noAway")}</span>
        {!readOnly && (
          <button
            type="button"
            className="btn sm"
            aria-expanded={open}
            onClick={() => {
              if (!away) set(FIRST);
              setOpen(!open || !away);
            }}
          >
            {t(away ? "policy.edit" : "policy.addAway")}
          </button>
        )}
        {!readOnly && draft.saved?.profiles[AWAY] && (
          <button
            type="button"
            className="btn sm"
            disabled={change.isPending}
            onClick={() => change.mutate(active === undefined)}
          >
            {active ? t("policy.back") : t("policy.awayNow")}
          </button>
        )}
      </div>
      {active?.until && <p className="muted">{t("away.until", { time: timeOrDate(active.until) })}</p>}
      {change.error && <p className="wrong">{change.error.message}</p>}
      {open && away && (
        <PolicyDefaults
          questions={away.questions}
          approvals={away.approvals}
          isProfile
          readOnly={readOnly}
          onChange={set}
        />
      )}
    </>
  );
}

function AwayWords({ away }: { away: PolicyForm["profiles"][string] }) {
  const t = useWords();
  const words = useCardWords();
  const { questions, approvals } = away;
  const late = (
    what: "policy.questions" | "policy.approvals",
    time: string,
    then: "reject" | "accept-first" | "deny",
  ) => `${t(what)}: ${t("policy.wait", { time: spanWords(words, time) })}, ${t(`policy.late.${then}`)}`;
  const parts = [
    questions.policy && `${t("policy.questions")}: ${questionWords(t, questions.policy)}`,
    questions.timeout && late("policy.questions", questions.timeout, questions.onTimeout ?? "reject"),
    approvals.policy && `${t("policy.approvals")}: ${t(effectWords(approvals.policy))}`,
    approvals.timeout && late("policy.approvals", approvals.timeout, "deny"),
  ].filter(Boolean);
  return parts.join(". ");
}
