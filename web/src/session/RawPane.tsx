import { Kbd, pieces, Visible } from "@sayso/react";
import type { FeedEvent } from "@sayso/sdk";
import { Copy, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useQuery } from "../api/useQuery";
import { useWords } from "../i18n";
import { askIdOf } from "../live/events";
import { useClient } from "../live/hooks";
import { copyText } from "../ui/copy";
import { useKey } from "../ui/keys";
import { Segments } from "../ui/Segments";

/** An event as text, or the original request of the agent. */
export function RawPane({ event }: { event: FeedEvent }) {
  const t = useWords();
  const client = useClient();
  const [view, setView] = useState<"event" | "raw">("event");
  const askId = askIdOf(event) ?? "";
  const raw = useQuery({
    queryKey: ["raw", askId],
    queryFn: () => client.ask(askId),
    enabled: view === "raw" && askId !== "",
  });
  const shown = view === "raw" && askId ? raw.data?.raw : event.data;
  const text = shown === undefined || shown === null ? "" : JSON.stringify(shown, null, 2);
  useKey("y", () => copyText(text));
  const invisible = pieces(text).filter((piece) => "code" in piece).length;
  return (
    <aside className="rawpane" aria-label={t("events.pane")}>
      <div className="bar">
        <span className="mono">
          <b>{event.seq}</b> {event.type}
        </span>
        <span className="grow" />
        {askId && (
          <Segments
            label={t("events.pane")}
            value={view}
            options={[
              { value: "event", label: t("events.event") },
              { value: "raw", label: t("events.raw") },
            ]}
            onChange={setView}
          />
        )}
        <button type="button" className="btn ghost sm" aria-label={t("button.copyAsk")} onClick={() => copyText(text)}>
          <Copy size={14} aria-hidden="true" /> <Kbd>y</Kbd>
        </button>
      </div>
      <pre className="rawtext" tabIndex={0}>
        <Visible text={text || t("events.none")} />
      </pre>
      {invisible > 0 && (
        <p className="muted">
          <TriangleAlert size={14} aria-hidden="true" /> {t("events.invisible", { count: invisible })}
        </p>
      )}
    </aside>
  );
}
