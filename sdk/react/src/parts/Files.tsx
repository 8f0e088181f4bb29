import type { AskFile } from "../api";
import { useHost } from "../host";
import type { AskCardModel } from "../useAskCard";
import { DiffView } from "./DiffView";
import { Visible } from "./Visible";

/** The files that the command executes, with what changed since the person looked at them. */
export function Files({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const { ask, files, sending } = model;
  const { executes } = ask;
  if (!executes) return null;
  const changes = (sending?.phase === "failed" && sending.error.details.changes) || [];
  const shown: AskFile[] = files?.files ?? executes.files.map((path) => ({ path, truncated: false }));
  return (
    <section className="files" aria-label={t("files.title")}>
      {changes.length > 0 && (
        <>
          <p className="cap">{t("files.changed")}</p>
          {changes.map((change) => (
            <DiffView key={change.path} file={change} />
          ))}
        </>
      )}
      {shown.length > 0 && <p className="cap">{t("files.title")}</p>}
      {shown.map((file) => (
        <FileView key={file.path} file={file} />
      ))}
      {shown.some((file) => file.text) && <p className="muted">{t("files.changeable")}</p>}
      {executes.unlisted && <p className="muted">{t("files.unlisted")}</p>}
    </section>
  );
}

function FileView({ file }: { file: AskFile }) {
  const { t } = useHost();
  return (
    <div className="file">
      <p className="fname mono">
        <Visible text={file.path} />{" "}
        {file.digest && (
          <span className="muted" title={file.digest}>
            {file.digest.slice(0, 12)}
          </span>
        )}
      </p>
      {file.text == null ? (
        <p className="muted">{t("files.unavailable")}</p>
      ) : (
        <pre className="cmd" tabIndex={-1} data-preview>
          <Visible text={file.text} />
        </pre>
      )}
      {file.truncated && <p className="muted">{t("files.truncated", { size: file.size ?? 0 })}</p>}
    </div>
  );
}
