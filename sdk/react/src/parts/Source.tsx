import { Folder, GitBranch } from "lucide-react";
import type { Ask } from "../api";
import { useHost } from "../host";
import { plain } from "../model/invisible";
import { baseName, titleOf } from "../model/view";
import { Visible } from "./Visible";

const SHORT: Record<string, string> = { claude: "cl", codex: "cx", opencode: "oc", gemini: "ge", mock: "mo" };

/** An agent as two letters. */
export function AgentTile({ agent }: { agent: string }) {
  return (
    <span className="agent" aria-hidden="true">
      {SHORT[agent] ?? plain(agent).slice(0, 2).toLowerCase()}
    </span>
  );
}

/** The agent, the session, the project and the branch of the ask. */
export function Source({ ask }: { ask: Ask }) {
  const { t } = useHost();
  return (
    <div className="src">
      <AgentTile agent={ask.agent} />
      <b>
        <Visible text={ask.agent} />
      </b>
      {ask.agentReported && ask.askedBy && (
        <span className="muted">
          <Visible text={t("source.askedBy", { name: ask.askedBy })} />
        </span>
      )}
      {ask.title && ask.title !== titleOf(ask).text && (
        <>
          <span className="sep" />
          <span className="cut">
            <Visible text={ask.title} />
          </span>
        </>
      )}
      {ask.project && (
        <>
          <span className="sep" />
          <span className="hstack" title={plain(ask.project)}>
            <Folder size={14} strokeWidth={1.75} aria-hidden="true" />
            <Visible text={baseName(ask.project)} />
          </span>
        </>
      )}
      {ask.branch && (
        <span className="hstack">
          <GitBranch size={14} strokeWidth={1.75} aria-hidden="true" />
          <Visible text={ask.branch} />
        </span>
      )}
      {ask.subagent && (
        <>
          <span className="sep" />
          <span>
            <Visible text={t("source.subagent", { name: ask.subagent })} />
          </span>
        </>
      )}
    </div>
  );
}
