import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import type { FormRule, PolicyForm, PolicyRule } from "../api/client";
import { useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { isSaved, neighbour, ruleNamed } from "./policyRule";
import { HitCount, RuleCard } from "./RuleCard";
import { RuleEditor } from "./RuleEditor";
import type { PolicyDraft } from "./usePolicyDraft";

const BUILT_IN = "built in: sayso itself";
const NEW: PolicyRule = { do: "allow", run: [] };

interface PolicyRulesProps {
  draft: PolicyDraft;
  form: PolicyForm;
  readOnly: boolean;
  /** The rule that a link names. */
  wanted: string | undefined;
}

/** All rules with their number of decisions. One rule can be open. */
export function PolicyRules({ draft, form, readOnly, wanted }: PolicyRulesProps) {
  const t = useWords();
  const client = useClient();
  const hits = useQuery({ queryKey: ["ruleHits"], queryFn: client.ruleHits });
  const hitsOf = (key: string) => hits.data?.data.find((one) => one.rule === key);
  const [open, setOpen] = useState<number | "new">();
  const named = wanted ? ruleNamed(form.rules, wanted)?.place : undefined;
  useEffect(() => {
    if (named !== undefined) setOpen(named);
  }, [named]);
  const apply = async (edits: Parameters<PolicyDraft["change"]>[0]) => draft.change(edits);
  const move = (rule: FormRule, step: -1 | 1) => {
    const to = neighbour(form.rules, rule.place, step);
    if (to === undefined) return undefined;
    return () => void apply([{ kind: "moveRule", place: rule.place, to }]).then(() => setOpen(to));
  };
  return (
    <>
      <div className="formhead hstack">
        <h2 className="grow">{t("policy.rules")}</h2>
        {!readOnly && (
          <button type="button" className="btn sm" onClick={() => setOpen("new")}>
            <Plus size={14} aria-hidden="true" /> {t("policy.newRule")}
          </button>
        )}
      </div>
      <div className="rules">
        {form.rules.map((rule) => (
          <RuleCard
            key={rule.place}
            label={rule.label}
            rule={rule.rule}
            fact={isSaved(rule, draft.saved) ? <HitCount hits={hitsOf(rule.key)} /> : t("policy.notSaved")}
            open={open === rule.place}
            focus={rule.place === named}
            onToggle={() => setOpen(open === rule.place ? undefined : rule.place)}
          >
            <RuleEditor
              rule={rule.rule}
              readOnly={readOnly}
              onApply={(next) => apply([{ kind: "setRule", place: rule.place, rule: next }])}
              onRemove={() => {
                setOpen(undefined);
                void apply([{ kind: "removeRule", place: rule.place }]);
              }}
              onMove={rule.rule.do === "answer" ? { up: move(rule, -1), down: move(rule, 1) } : undefined}
            />
          </RuleCard>
        ))}
        {open === "new" && (
          <RuleCard
            label={t("policy.newRule")}
            rule={NEW}
            fact={t("policy.notSaved")}
            open
            focus
            onToggle={() => setOpen(undefined)}
          >
            <RuleEditor
              rule={NEW}
              isNew
              readOnly={false}
              onApply={(rule) => apply([{ kind: "addRule", rule }]).then((next) => setOpen(next.rules.length))}
              onRemove={() => setOpen(undefined)}
              onMove={undefined}
            />
          </RuleCard>
        )}
        {form.rules.length === 0 && open !== "new" && <p className="muted">{t("policy.empty")}</p>}
        <div className="rule">
          <div className="top">
            <span className="chip" data-effect="built-in">
              {t("verdict.ask")}
            </span>
            <b>{t("policy.builtIn")}</b>
            <span className="muted cut grow">{t("policy.builtInWhat")}</span>
            <span className="muted num">
              <HitCount hits={hitsOf(BUILT_IN)} />
            </span>
          </div>
        </div>
      </div>
    </>
  );
}
