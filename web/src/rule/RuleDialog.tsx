import { type Ask, baseName, contentOf, Kbd, titleOf, useHost, Visible } from "@sayso/react";
import { useEffect, useState } from "react";
import { queries, useMutation, useQuery } from "../api/useQuery";
import { useCardWords, useWords } from "../i18n";
import { useClient, usePending } from "../live/hooks";
import { Dialog } from "../ui/Dialog";
import { Segments } from "../ui/Segments";
import { DryRunList } from "./DryRunList";
import { suggest, toToml, type Where, withRule } from "./model";
import { useDryRun } from "./useDryRun";

type For = "hour" | "today" | "noEnd";

/** Creates a rule from an approval. Shows a dry run, and the waiting asks that the rule would also allow. */
export function RuleDialog({ ask, open, onClose }: { ask: Ask; open: boolean; onClose: () => void }) {
  const t = useWords();
  const words = useCardWords();
  const client = useClient();
  const { sender, holdMs } = useHost();
  const policy = useQuery({ queryKey: ["policy"], queryFn: client.policy, enabled: open });
  const [where, setWhere] = useState<Where>("project");
  const [lasting, setLasting] = useState<For>("hour");
  const [pattern, setPattern] = useState("");
  useEffect(() => {
    if (open) setPattern(suggest(ask, "project").pattern);
  }, [open, ask]);
  const rule = { ...suggest(ask, where), pattern };
  const toml = toToml(rule);
  const text = withRule(policy.data?.text ?? "", toml);
  const dry = useDryRun(text, open && pattern !== "" && policy.isSuccess);
  const release = useRelease(open, dry.data?.pending ?? []);
  const canSave = pattern !== "" && policy.isSuccess && !dry.error;
  const save = useMutation<unknown>({
    mutationFn: () =>
      lasting === "noEnd"
        ? client.savePolicy({ text, ifFingerprint: policy.data?.textFingerprint ?? "" })
        : client.grant({
            [rule.on]: [pattern],
            for: lasting === "hour" ? "1h" : untilMidnight(),
            ...(rule.project ? { project: rule.project } : {}),
          }),
    onSettled: () => queries.invalidate(["policy"]),
  });
  const approve = () => {
    const chosen = release.asks.filter((one) => release.chosen.has(one.id));
    sender.holdAll(
      chosen.map((one) => ({
        askId: one.id,
        decision: { kind: "approve" },
        label: words("button.approve"),
        content: contentOf(one),
      })),
      holdMs,
    );
    onClose();
  };
  const footer = (
    <>
      <button
        type="button"
        className="btn primary"
        disabled={save.isPending || !canSave}
        onClick={() => save.mutate(undefined, { onSuccess: approve })}
      >
        {t("button.saveApprove", { count: release.chosen.size })} <Kbd>Ctrl ↵</Kbd>
      </button>
      <button
        type="button"
        className="btn"
        disabled={save.isPending || !canSave}
        onClick={() => save.mutate(undefined, { onSuccess: onClose })}
      >
        {t("button.saveOnly")}
      </button>
      <span className="grow wrong">{save.error?.message}</span>
      <button type="button" className="btn ghost" onClick={onClose}>
        {t("button.cancelDialog")} <Kbd>Esc</Kbd>
      </button>
    </>
  );
  return (
    <Dialog open={open} onClose={onClose} title={t("rule.title")} description={t("rule.what")} footer={footer}>
      <form
        className="frm"
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && canSave)
            save.mutate(undefined, { onSuccess: approve });
        }}
      >
        <label htmlFor="rule-pattern">{t(`rule.on.${rule.on}`)}</label>
        <div className="field mono">
          <input
            id="rule-pattern"
            value={pattern}
            spellCheck={false}
            onChange={(event) => setPattern(event.target.value)}
          />
        </div>
        <span>{t("rule.where")}</span>
        <Segments
          label={t("rule.where")}
          value={where}
          options={[
            { value: "project", label: baseName(ask.project) || t("rule.everywhere") },
            { value: "everywhere", label: t("rule.everywhere") },
          ]}
          onChange={setWhere}
        />
        <span>{t("rule.for")}</span>
        <Segments
          label={t("rule.for")}
          value={lasting}
          options={(["hour", "today", "noEnd"] as const).map((value) => ({ value, label: t(`rule.for.${value}`) }))}
          onChange={setLasting}
        />
      </form>
      {lasting === "noEnd" && (
        <>
          <p className="muted">
            <Visible text={t("rule.file", { path: policy.data?.path ?? "policy.toml" })} />
          </p>
          <pre className="cmdline">{toml}</pre>
        </>
      )}
      {dry.error && <p className="wrong">{dry.error.message}</p>}
      {dry.data && (
        <>
          <p className="dryhead">
            {t("dry.would", { count: dry.data.decided.length })}
            <span className="grow" />
            <span className="chip" data-status="ok">
              {t("dry.asYouDid", { count: dry.data.asYouDid.length })}
            </span>
            <span className="chip" data-status="waiting">
              {t("dry.otherwise", { count: dry.data.otherwise.length })}
            </span>
          </p>
          {dry.data.decided.length > 0 && (
            <DryRunList
              entries={[...new Set([...dry.data.otherwise, ...dry.data.decided])]}
              otherwise={dry.data.otherwise}
            />
          )}
        </>
      )}
      {release.asks.length > 0 && (
        <>
          <h3>{t("rule.release")}</h3>
          <div className="box">
            {release.asks.map((other) => (
              <label key={other.id} className="twin">
                <input
                  type="checkbox"
                  checked={release.chosen.has(other.id)}
                  onChange={() => release.toggle(other.id)}
                />
                <span className="mono cut grow">
                  <Visible text={titleOf(other).text} />
                </span>
                <span className="muted cut">
                  <Visible text={[other.agent, other.branch ?? baseName(other.project)].filter(Boolean).join(", ")} />
                </span>
              </label>
            ))}
          </div>
        </>
      )}
    </Dialog>
  );
}

/** The waiting asks that the rule would allow. All are selected at first. */
function useRelease(open: boolean, explained: { askId: string; verdict: string }[]) {
  const pending = usePending();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (open) setLeft(new Set());
  }, [open]);
  const allowed = new Set(explained.filter((one) => one.verdict === "approve").map((one) => one.askId));
  const asks = pending.filter((ask) => allowed.has(ask.id));
  const chosen = new Set(asks.map((ask) => ask.id).filter((id) => !left.has(id)));
  const toggle = (id: string) => {
    const next = new Set(left);
    if (!next.delete(id)) next.add(id);
    setLeft(next);
  };
  return { asks, chosen, toggle };
}

function untilMidnight(): string {
  const now = new Date();
  const end = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return `${Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 60_000))}m`;
}
