import { TriangleAlert } from "lucide-react";
import { useHost } from "../host";
import type { AskCardModel } from "../useAskCard";
import { Visible } from "./Visible";

/** The reason why the last attempt was refused. The input is kept. */
export function ErrorLine({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const { sending, ask } = model;
  if (sending?.phase !== "failed") return null;
  const { changes, offline, stale, problems = [] } = sending.error.details;
  const named = problems.map(({ index, reason }) => {
    const question = ask.questions?.[index];
    return question ? `${question.header || question.text}: ${reason}.` : `${reason}.`;
  });
  const reason = named.length > 0 ? named.join(" ") : sending.error.message;
  return (
    <div className="err" role="alert">
      <TriangleAlert className="i" size={16} strokeWidth={1.75} aria-hidden="true" />
      <span>
        {stale && t(stale === "old" ? "error.staleOld" : "error.staleChanged")}
        {changes && t("error.contentChanged")}
        {!stale && !changes && <Visible text={offline ? t("error.offline") : t("error.notSent", { reason })} />}
      </span>
    </div>
  );
}
