import { Visible } from "@sayso/react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { PolicyView } from "../api/client";
import { useWords } from "../i18n";
import { useClient, useIsAdmin } from "../live/hooks";
import { DryRunList } from "../rule/DryRunList";
import { allowedBy, placeOf } from "../rule/model";
import { useDryRun } from "../rule/useDryRun";

/** A text that is not saved yet, and the file that it began as. */
interface Draft {
  text: string;
  began: PolicyView;
}

/** The policy as text, and beside it what it would have done: every keystroke is tried, and saved only with the button. Who
 * may not change it reads it. */
export function PolicySettings({ rule }: { rule: string | undefined }) {
  const t = useWords();
  const client = useClient();
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const policy = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const [draft, setDraft] = useState<Draft>();
  const text = draft?.text ?? policy.data?.text ?? "";
  const changed = draft !== undefined && draft.text !== policy.data?.text;
  const save = useMutation({
    mutationFn: (wanted: Draft) =>
      client.savePolicy({ text: wanted.text, ifFingerprint: wanted.began.textFingerprint ?? "" }),
    onSuccess: (view) => {
      queries.setQueryData(["policy"], view);
      setDraft(undefined);
    },
  });
  const revert = () => {
    setDraft(undefined);
    save.reset();
    void policy.refetch();
  };
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
              <button type="button" className="btn ghost sm" onClick={revert}>
                {t("policy.revert")}
              </button>
              <button
                type="button"
                className="btn primary sm"
                disabled={dry.isError || save.isPending}
                onClick={() => save.mutate(draft)}
              >
                {t("policy.save")}
              </button>
            </>
          )}
        </div>
        <div className="form">
          {policy.isError && <p className="wrong">{policy.error.message}</p>}
          {policy.data?.error && <p className="wrong">{policy.data.error}</p>}
          {save.isError && (
            <p className="wrong" role="alert">
              {save.error.message}
            </p>
          )}
          <p className="muted">
            <Visible text={t(isAdmin ? "policy.where" : "policy.read", { path: policy.data?.path ?? "" })} />
          </p>
          <div className="field area mono policy" data-wrong={dry.isError}>
            <textarea
              ref={field}
              value={text}
              aria-label="policy.toml"
              spellCheck={false}
              readOnly={!isAdmin}
              placeholder={t("policy.empty")}
              onChange={(event) => {
                const began = draft?.began ?? policy.data;
                if (began) setDraft({ text: event.target.value, began });
              }}
            />
          </div>
          <Grants />
        </div>
      </section>
      <aside className="dry" tabIndex={0} aria-label={t("dry.title")}>
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
            {isAdmin && !changed && <p className="muted">{t("dry.edit")}</p>}
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
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const { data } = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const revoke = useMutation({
    mutationFn: client.revokeGrant,
    onSettled: () => queries.invalidateQueries({ queryKey: ["policy"] }),
  });
  if (!data || data.grants.length === 0) return null;
  return (
    <>
      <h3>{t("policy.grants")}</h3>
      <ul className="box grants">
        {data.grants.map((grant) => (
          <li key={grant.id}>
            <span className="grow">
              {allowedBy(grant).map(([on, pattern]) => (
                <span key={`${on} ${pattern}`} className="allowed">
                  {t(`rule.on.${on}`)} <code>{<Visible text={pattern} />}</code>
                </span>
              ))}
              <span className="muted">
                <Visible text={grant.project ?? t("rule.everywhere")} />
              </span>
            </span>
            <span className="muted">{grant.until ? new Date(grant.until).toLocaleString() : ""}</span>
            {isAdmin && (
              <button type="button" className="btn no sm" onClick={() => revoke.mutate(grant.id)}>
                {t("button.revoke")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {revoke.isError && <p className="wrong">{revoke.error.message}</p>}
    </>
  );
}

/** Selects the rule that a link names, so that it can be edited at once. */
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
