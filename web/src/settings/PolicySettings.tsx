import { Visible } from "@sayso/react";
import { Lock } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useWords } from "../i18n";
import { useIsAdmin } from "../live/hooks";
import { placeOf } from "../rule/model";
import { Segments } from "../ui/Segments";
import { AwaySettings } from "./AwaySettings";
import { DryRunPane } from "./DryRunPane";
import { Grants } from "./Grants";
import { PolicyDefaults } from "./PolicyDefaults";
import { PolicyRules } from "./PolicyRules";
import { type PolicyDraft, usePolicyDraft } from "./usePolicyDraft";

type Tab = "form" | "text";

/** The policy as a form or as text, with a dry run. Both edit the same text, which is saved only with the button. Read-only
 * without the permission to change it. */
export function PolicySettings({ rule }: { rule: string | undefined }) {
  const t = useWords();
  const isAdmin = useIsAdmin();
  const draft = usePolicyDraft();
  const { policy, text, changed, save, error } = draft;
  const [tab, setTab] = useState<Tab>("form");
  // A setting has no rule card, so it is shown in the text.
  const setting = rule !== undefined && /^(questions|approvals)\./.test(rule);
  useEffect(() => {
    if (setting) setTab("text");
  }, [setting]);
  const shown: Tab = draft.form ? tab : "text";
  return (
    <>
      <section className="pane" aria-label={t("settings.policy")}>
        <div className="bar">
          <h2>{t("settings.policy")}</h2>
          <span className="grow" />
          <Segments
            label={t("settings.policy")}
            value={shown}
            options={[
              { value: "form", label: t("policy.form") },
              { value: "text", label: "policy.toml" },
            ]}
            onChange={setTab}
          />
          {changed && (
            <>
              <button type="button" className="btn ghost sm" onClick={draft.discard}>
                {t("policy.revert")}
              </button>
              <button
                type="button"
                className="btn primary sm"
                disabled={error !== undefined || save.isPending}
                onClick={draft.saveNow}
              >
                {t("policy.save")}
              </button>
            </>
          )}
        </div>
        <div className="form">
          {policy.error && <p className="wrong">{policy.error.message}</p>}
          {policy.data?.error && <p className="wrong">{policy.data.error}</p>}
          {save.error && (
            <p className="wrong" role="alert">
              {save.error.message}
            </p>
          )}
          <p className="muted">
            <Visible text={t(isAdmin ? "policy.where" : "policy.read", { path: policy.data?.path ?? "" })} />
          </p>
          {shown === "form" && draft.form && (
            <>
              <h2>{t("policy.defaults")}</h2>
              <PolicyDefaults
                questions={draft.form.questions}
                approvals={draft.form.approvals}
                readOnly={!isAdmin}
                onChange={(next) => void draft.change([{ kind: "setDefaults", ...next }]).catch(() => {})}
              />
              <PolicyRules draft={draft} form={draft.form} readOnly={!isAdmin} wanted={rule} />
              <AwaySettings draft={draft} form={draft.form} readOnly={!isAdmin} />
              <p className="muted hstack">
                <Lock size={14} aria-hidden="true" />
                {t("policy.project.note")}
              </p>
            </>
          )}
          {shown === "text" && <PolicyText draft={draft} readOnly={!isAdmin} rule={rule} />}
          <Grants />
        </div>
      </section>
      <DryRunPane text={text} enabled={policy.isSuccess} changed={changed} />
    </>
  );
}

function PolicyText({ draft, readOnly, rule }: { draft: PolicyDraft; readOnly: boolean; rule: string | undefined }) {
  const t = useWords();
  const field = useRuleInView(rule, draft.policy.isSuccess);
  return (
    <div className="field area mono policy" data-wrong={draft.error !== undefined}>
      <textarea
        ref={field}
        value={draft.text}
        aria-label="policy.toml"
        spellCheck={false}
        readOnly={readOnly}
        placeholder={t("policy.empty")}
        onChange={(event) => draft.setText(event.target.value)}
      />
    </div>
  );
}

/** Selects the setting or the rule that a link names, so that the person can edit it. */
function useRuleInView(rule: string | undefined, ready: boolean) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const element = field.current;
    const place = rule && ready && element ? placeOf(element.value, rule) : undefined;
    if (!element || !place) return;
    element.focus();
    element.setSelectionRange(place.from, place.to);
  }, [rule, ready]);
  return field;
}
