import { TriangleAlert } from "lucide-react";
import type { Ask } from "../api";
import { useHost } from "../host";
import { destructiveParts, outsideWrites } from "../model/risk";
import { Visible } from "./Visible";

/** The destructive words of a command and the paths outside the project that it changes. Empty if there are none. */
export function risksOf(ask: Ask): { destructive: string[]; outside: string[] } {
  const { approval } = ask;
  const command = approval?.action === "run" ? (approval.command ?? "") : "";
  const parts = destructiveParts(command).map(({ from, to }) => command.slice(from, to));
  return { destructive: [...new Set(parts)], outside: outsideWrites(ask) };
}

/** Names the risks of an approval below its command or diff. This is only a hint: other commands can also do harm. */
export function RiskLine({ ask }: { ask: Ask }) {
  const { t } = useHost();
  const { destructive, outside } = risksOf(ask);
  if (destructive.length + outside.length === 0) return null;
  return (
    <ul className="risks">
      {destructive.length > 0 && <Risk words={t("risk.destructive")} parts={destructive} />}
      {outside.length > 0 && <Risk words={t("risk.outside")} parts={outside} />}
    </ul>
  );
}

function Risk({ words, parts }: { words: string; parts: string[] }) {
  return (
    <li>
      <TriangleAlert size={14} strokeWidth={1.75} aria-hidden="true" />
      <span>
        {words}{" "}
        {parts.map((part, index) => (
          <span key={part}>
            {index > 0 && ", "}
            <code>
              <Visible text={part} />
            </code>
          </span>
        ))}
      </span>
    </li>
  );
}
