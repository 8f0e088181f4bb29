import { useHost, useNow } from "../host";
import { titleOf } from "../model/view";
import type { AskCardModel } from "../useAskCard";
import { Command } from "./Command";
import { Visible } from "./Visible";

/** A held decision: the title of the ask, and the remaining time to undo. */
export function SendingBody({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const now = useNow(1000);
  const { sending } = model;
  const left = sending?.phase === "held" ? Math.max(1, Math.ceil((sending.until - now) / 1000)) : undefined;
  const title = titleOf(model.ask);
  return (
    <div className="res">
      <p className={title.code ? "q mono" : "q"} id={`title-${model.ask.id}`}>
        {title.code ? <Command text={title.text} /> : <Visible text={title.text} />}
      </p>
      {left !== undefined && <p className="sub">{t("line.held", { count: left })}</p>}
      {sending?.phase === "queued" && (
        <p className="sub">{t(sending.decision.kind === "approve" ? "line.offlineApproval" : "line.offline")}</p>
      )}
    </div>
  );
}
