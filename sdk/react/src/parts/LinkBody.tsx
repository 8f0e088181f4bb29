import { ExternalLink } from "lucide-react";
import { useHost } from "../host";
import { webAddress } from "../model/invisible";
import type { AskCardModel } from "../useAskCard";
import { Kbd } from "./Kbd";
import { ButtonWords, ReasonField, ReasonFooter } from "./notes";
import { Visible } from "./Visible";

/** A link: the whole address, its host in bold, opened only by a click. */
export function LinkBody({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const { link, id } = model.ask;
  if (!link) return null;
  const address = webAddress(link.url);
  return (
    <>
      <div className="body">
        <h2 className="qtext" id={`title-${id}`}>
          <Visible text={link.message || t("link.title")} />
        </h2>
        <p className="cmd">
          {address ? (
            <>
              {address.before}
              <b>{address.host}</b>
              {address.after}
            </>
          ) : (
            <Visible text={link.url} />
          )}
        </p>
        {!address && <p className="wrong">{t("link.unsafe")}</p>}
      </div>
      <ReasonField model={model} />
      {model.draft.reason === null ? (
        <div className="actions">
          <div className="foot">
            {address && (
              <a className="btn primary whole" href={link.url} target="_blank" rel="noopener noreferrer">
                <ExternalLink className="i" size={14} strokeWidth={1.75} aria-hidden="true" />
                {t("button.open", { host: address.host })}
              </a>
            )}
            <button
              type="button"
              className="btn yes"
              aria-keyshortcuts="a"
              onClick={() => model.approve({ label: t("button.done") })}
            >
              {t("button.done")} <Kbd>a</Kbd>
            </button>
            <span className="gap" />
            <button
              type="button"
              className="btn ghost"
              aria-label={t("button.rejectReason")}
              aria-keyshortcuts="r"
              onClick={() => model.write("reason")}
            >
              <ButtonWords long={t("button.rejectReason")} short={t("button.reasonShort")} /> <Kbd>r</Kbd>
            </button>
            <button type="button" className="btn no" aria-keyshortcuts="d" onClick={() => model.no()}>
              {t("button.reject")} <Kbd>d</Kbd>
            </button>
          </div>
        </div>
      ) : (
        <ReasonFooter model={model} />
      )}
    </>
  );
}
