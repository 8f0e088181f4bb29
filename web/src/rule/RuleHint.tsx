import type { Ask } from "@sayso/react";
import { ShieldCheck } from "lucide-react";
import { useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { suggest, toToml, withRule } from "./model";
import { useDryRun } from "./useDryRun";

/** The number of approvals of the same action after which the card suggests a rule. */
const HABIT = 3;

/** Suggests a rule for an action that was approved often, with a dry run of the rule. */
export function RuleHint({ ask, onMakeRule }: { ask: Ask; onMakeRule: () => void }) {
  const client = useClient();
  const precedents = useQuery({
    queryKey: ["precedents", ask.id],
    queryFn: () => client.precedents(ask.id),
    enabled: ask.kind === "approval" && ask.status === "pending",
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { approved = 0, denied = 0 } = precedents.data ?? {};
  if (ask.status !== "pending" || approved < HABIT || denied > 0) return null;
  return <Offer ask={ask} approved={approved} onMakeRule={onMakeRule} />;
}

function Offer({ ask, approved, onMakeRule }: { ask: Ask; approved: number; onMakeRule: () => void }) {
  const t = useWords();
  const client = useClient();
  const policy = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const dry = useDryRun(withRule(policy.data?.text ?? "", toToml(suggest(ask, "project"))), policy.isSuccess);
  return (
    <section className="rulehint" aria-label={t("rule.title")}>
      <ShieldCheck size={16} aria-hidden="true" />
      <span className="grow">
        {t("hint.approved", { count: approved })}{" "}
        {dry.data && (
          <span className="muted">
            {t("dry.would", { count: dry.data.decided.length })}:{" "}
            {t("dry.asYouDid", { count: dry.data.asYouDid.length })},{" "}
            {t("dry.otherwise", { count: dry.data.otherwise.length })}
          </span>
        )}
      </span>
      <button type="button" className="btn sm" onClick={onMakeRule}>
        {t("rule.title")}
      </button>
    </section>
  );
}
