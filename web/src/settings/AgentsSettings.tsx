import { AgentTile, Visible } from "@sayso/react";
import { Check, Minus } from "lucide-react";
import type { Agent } from "../api/client";
import { useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient } from "../live/hooks";

const CAPABILITIES = [
  "questions",
  "approvals",
  "plans",
  "elicitation",
  "resume",
  "survivesRestart",
  "messageAnswersSets",
] as const;

/** The agents that can be started, and their capabilities. */
export function AgentsSettings() {
  const t = useWords();
  const client = useClient();
  const { data } = useQuery({ queryKey: ["agents"], queryFn: client.agents });
  return (
    <section className="pane" aria-label={t("settings.agents")}>
      <div className="bar">
        <h2>{t("settings.agents")}</h2>
      </div>
      <section className="form scrolls" aria-label={t("agents.protocol")} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t("facts.agent")}</th>
              <th>{t("agents.protocol")}</th>
              {CAPABILITIES.map((one) => (
                <th key={one}>{t(`can.${one}`)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(data?.data ?? []).map((agent) => (
              <AgentRow key={agent.name} agent={agent} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function AgentRow({ agent }: { agent: Agent }) {
  const t = useWords();
  return (
    <tr>
      <td>
        <span className="hstack">
          <AgentTile agent={agent.name} />
          <Visible text={agent.name} />
        </span>
        {!agent.installed && agent.install && <code className="muted">{agent.install}</code>}
      </td>
      <td>{agent.protocol}</td>
      {CAPABILITIES.map((one) => (
        <td key={one}>
          {agent.capabilities[one] ? (
            <Check className="ok" size={16} aria-label={t("can.yes")} role="img" />
          ) : (
            <Minus className="muted" size={16} aria-label={t("can.no")} role="img" />
          )}
        </td>
      ))}
    </tr>
  );
}
