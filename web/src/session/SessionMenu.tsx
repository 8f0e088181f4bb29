import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import type { Session } from "../api/client";
import { useMutation, useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient, useIsAdmin } from "../live/hooks";
import { Dialog } from "../ui/Dialog";

/** Modes in which agents ask for approval. */
const CAREFUL = ["default", "plan"];
/** Modes that skip approvals. Only admins choose them. */
const SKIPPING = ["acceptEdits", "bypassPermissions"];

/** Changes the permission mode and the model of a running session, if its agent allows that. */
export function SessionMenu({ session }: { session: Session }) {
  const t = useWords();
  const client = useClient();
  const [open, setOpen] = useState(false);
  const { data: agents } = useQuery({ queryKey: ["agents"], queryFn: client.agents });
  const can = agents?.data.find((agent) => agent.name === session.agent)?.capabilities.changeSettings;
  if (!can) return null;
  return (
    <>
      <button type="button" className="btn ghost sm" aria-label={t("session.settings")} onClick={() => setOpen(true)}>
        <SlidersHorizontal size={16} aria-hidden="true" />
      </button>
      {open && <SettingsDialog session={session} onClose={() => setOpen(false)} />}
    </>
  );
}

function SettingsDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const t = useWords();
  const client = useClient();
  const isAdmin = useIsAdmin();
  const [mode, setMode] = useState(session.permissionMode);
  const [model, setModel] = useState(session.model ?? "");
  const save = useMutation({
    mutationFn: (change: { permissionMode?: string; model?: string }) => client.changeSession(session.id, change),
    onSuccess: onClose,
  });
  const modes = [...new Set([...CAREFUL, ...(isAdmin ? SKIPPING : []), session.permissionMode])];
  const change = {
    ...(mode !== session.permissionMode && { permissionMode: mode }),
    ...(model.trim() && model.trim() !== (session.model ?? "") && { model: model.trim() }),
  };
  const footer = (
    <>
      <button
        type="button"
        className="btn primary"
        disabled={save.isPending || Object.keys(change).length === 0}
        onClick={() => save.mutate(change)}
      >
        {t("session.apply")}
      </button>
      <span className="grow wrong">{save.error?.message}</span>
      <button type="button" className="btn ghost" onClick={onClose}>
        {t("button.cancelDialog")}
      </button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("session.settings")} footer={footer}>
      <form className="frm" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor="session-mode">{t("facts.mode")}</label>
        <select id="session-mode" className="btn select" value={mode} onChange={(event) => setMode(event.target.value)}>
          {modes.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <label htmlFor="session-model">{t("facts.model")}</label>
        <div className="field mono">
          <input
            id="session-model"
            value={model}
            placeholder={t("facts.defaultModel")}
            spellCheck={false}
            onChange={(event) => setModel(event.target.value)}
          />
        </div>
        {SKIPPING.includes(mode) && <p className="wide wrong">{t("session.skips")}</p>}
      </form>
    </Dialog>
  );
}
