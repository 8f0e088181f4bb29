import { Visible } from "@sayso/react";
import { useQuery } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { DryRunList } from "../rule/DryRunList";
import { useDryRun } from "../rule/useDryRun";
import { copyText } from "../ui/copy";

/** The policy as text, and beside it what it would have done: every keystroke is tried, nothing is changed. */
export function PolicySettings({ rule }: { rule: string | undefined }) {
  const t = useWords();
  const client = useClient();
  const policy = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const [draft, setDraft] = useState<string>();
  const text = draft ?? policy.data?.text ?? "";
  const changed = draft !== undefined && draft !== policy.data?.text;
  const dry = useDryRun(text, policy.isSuccess);
  const field = useRuleInView(rule, policy.isSuccess);
  return (
    <>
      <section className="pane" aria-label={t("settings.policy")}>
        <div className="bar">
          <h2>{t("settings.policy")}</h2>
          <span className="grow" />
          {changed && (
            <>
              <button type="button" className="btn ghost sm" onClick={() => setDraft(undefined)}>
                {t("policy.revert")}
              </button>
              <button type="button" className="btn primary sm" onClick={() => copyText(text)}>
                <Copy size={14} aria-hidden="true" />
                {t("policy.copy")}
              </button>
            </>
          )}
        </div>
        <div className="form">
          {policy.isError && <p className="wrong">{policy.error.message}</p>}
          {policy.data?.error && <p className="wrong">{policy.data.error}</p>}
          <p className="muted">
            <Visible text={t("policy.where", { path: policy.data?.path ?? "" })} />
          </p>
          <div className="field area mono policy" data-wrong={dry.isError}>
            <textarea
              ref={field}
              value={text}
              aria-label="policy.toml"
              spellCheck={false}
              placeholder={t("policy.empty")}
              onChange={(event) => setDraft(event.target.value)}
            />
          </div>
          <Grants />
        </div>
      </section>
      <aside className="dry" aria-label={t("dry.title")}>
        <h2>{t("dry.title")}</h2>
        {dry.isError && (
          <p className="wrong" role="alert">
            {dry.error.message}
          </p>
        )}
        {dry.data && !dry.isError && (
          <>
            <div className="three">
              <Figure count={dry.data.decided.length} words={t("dry.decided")} />
              <Figure count={dry.data.otherwise.length} words={t("dry.otherwiseWord")} amber />
              <Figure count={dry.data.unchanged} words={t("dry.unchanged")} />
            </div>
            {!changed && <p className="muted">{t("dry.edit")}</p>}
            {dry.data.otherwise.length > 0 && <h3>{t("dry.first")}</h3>}
            {dry.data.otherwise.length > 0 && <DryRunList entries={dry.data.otherwise} />}
            {dry.data.asYouDid.length > 0 && <h3>{t("dry.asYouDid", { count: dry.data.asYouDid.length })}</h3>}
            {dry.data.asYouDid.length > 0 && <DryRunList entries={dry.data.asYouDid} />}
            {dry.data.pending.length > 0 && <h3>{t("dry.waiting")}</h3>}
            {dry.data.pending.length > 0 && <DryRunList entries={dry.data.pending} />}
          </>
        )}
      </aside>
    </>
  );
}

function Figure({ count, words, amber }: { count: number; words: string; amber?: boolean }) {
  return (
    <div className="box figure">
      <span className="big num" data-amber={amber && count > 0}>
        {count}
      </span>
      <span className="muted">{words}</span>
    </div>
  );
}

/** Rules that were given for a while. */
function Grants() {
  const t = useWords();
  const client = useClient();
  const { data } = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  if (!data || data.grants.length === 0) return null;
  return (
    <>
      <h3>{t("policy.grants")}</h3>
      <ul className="box grants">
        {data.grants.map((grant) => (
          <li key={grant.id}>
            <span className="mono grow">{grant.run.join(", ")}</span>
            <span className="muted">{grant.until ? new Date(grant.until).toLocaleString() : ""}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Selects the rule that a link names, so that it can be edited at once. */
function useRuleInView(rule: string | undefined, ready: boolean) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const element = field.current;
    const at = rule && ready && element ? element.value.indexOf(JSON.stringify(rule)) : -1;
    if (!element || !rule || at < 0) return;
    element.focus();
    element.setSelectionRange(at, at + rule.length + 2);
  }, [rule, ready]);
  return field;
}
