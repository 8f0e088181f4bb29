import { Kbd } from "@sayso/react";
import { useState } from "react";
import type { Agent } from "../api/client";
import { useMutation, useQuery } from "../api/useQuery";
import { go } from "../app/route";
import { useWords } from "../i18n";
import { useClient, useLive, useSessions } from "../live/hooks";
import { Dialog } from "../ui/Dialog";
import { Segments } from "../ui/Segments";

const MODES = ["default", "acceptEdits", "plan"] as const;
const QUESTIONS = ["policy", "forward", "auto", "accept-first", "reject"] as const;
const APPROVALS = ["policy", "ask", "deny"] as const;

/** The dialog that starts a session: agent, directory, prompt, mode, model and policy. */
export function NewSession({ open, onClose }: { open: boolean; onClose: () => void }) {
  const t = useWords();
  const client = useClient();
  const { store } = useLive();
  const lastCwd = useSessions()[0]?.cwd ?? "";
  const agents = useQuery({ queryKey: ["agents"], queryFn: client.agents, enabled: open });
  const [prompt, setPrompt] = useState("");
  const [agent, setAgent] = useState("");
  const [cwd, setCwd] = useState<string>();
  const [mode, setMode] = useState<(typeof MODES)[number]>("default");
  const [model, setModel] = useState("");
  const [questions, setQuestions] = useState<(typeof QUESTIONS)[number]>("policy");
  const [approvals, setApprovals] = useState<(typeof APPROVALS)[number]>("policy");
  const names = (agents.data?.data ?? []).filter((one) => one.installed).map((one) => one.name);
  const missing = (agents.data?.data ?? []).filter((one) => !one.installed && one.install);
  const chosen = agent || names[0] || "";
  const start = useMutation({
    mutationFn: () =>
      client.start({
        agent: chosen,
        prompt: prompt || null,
        cwd: (cwd ?? lastCwd) || null,
        permissionMode: mode,
        model: model || null,
        policy: {
          ...(questions === "policy" ? {} : { questions }),
          ...(approvals === "policy" ? {} : { approvals }),
        },
        labels: {},
      }),
    onSuccess: (session) => {
      store.takeSessions([session]);
      setPrompt("");
      onClose();
      go({ page: "session", id: session.id, tab: "transcript" });
    },
  });
  const footer = (
    <>
      <button
        type="button"
        className="btn primary"
        disabled={!chosen || start.isPending}
        onClick={() => start.mutate()}
      >
        {t("button.start")} <Kbd>Ctrl ↵</Kbd>
      </button>
      <span className="grow wrong">{start.error?.message}</span>
      <button type="button" className="btn ghost" onClick={onClose}>
        {t("button.cancelDialog")} <Kbd>Esc</Kbd>
      </button>
    </>
  );
  return (
    <Dialog open={open} onClose={onClose} title={t("button.newSession")} footer={footer}>
      <form
        className="frm"
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && chosen) start.mutate();
        }}
      >
        <div className="field area wide">
          <textarea
            rows={4}
            value={prompt}
            aria-label={t("new.prompt")}
            placeholder={t("new.prompt")}
            onChange={(event) => setPrompt(event.target.value)}
          />
        </div>
        <span>{t("facts.agent")}</span>
        <Segments
          label={t("facts.agent")}
          value={chosen}
          options={names.map((name) => ({ value: name, label: name }))}
          onChange={setAgent}
        />
        {missing.length > 0 && <MissingAgents agents={missing} />}
        <label htmlFor="new-cwd">{t("new.directory")}</label>
        <div className="field mono">
          <input
            id="new-cwd"
            value={cwd ?? lastCwd}
            placeholder="~"
            spellCheck={false}
            onChange={(event) => setCwd(event.target.value)}
          />
        </div>
        <span>{t("facts.mode")}</span>
        <Segments
          label={t("facts.mode")}
          value={mode}
          options={MODES.map((value) => ({ value, label: t(`mode.${value}`) }))}
          onChange={setMode}
        />
        <label htmlFor="new-model">{t("facts.model")}</label>
        <div className="field">
          <input
            id="new-model"
            value={model}
            placeholder={t("facts.defaultModel")}
            onChange={(event) => setModel(event.target.value)}
          />
        </div>
        <span>{t("new.questions")}</span>
        <Segments
          label={t("new.questions")}
          value={questions}
          options={QUESTIONS.map((value) => ({ value, label: t(`questions.${value}`) }))}
          onChange={setQuestions}
        />
        <span>{t("new.approvals")}</span>
        <Segments
          label={t("new.approvals")}
          value={approvals}
          options={APPROVALS.map((value) => ({ value, label: t(`approvals.${value}`) }))}
          onChange={setApprovals}
        />
        <p className="muted wide">{t("new.silence")}</p>
      </form>
    </Dialog>
  );
}

/** The agents that are not installed, with their install commands. */
function MissingAgents({ agents }: { agents: Agent[] }) {
  const t = useWords();
  return (
    <details className="wide missing">
      <summary>{t("new.missing", { count: agents.length })}</summary>
      <dl>
        {agents.map(({ name, install }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="mono">{install}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
