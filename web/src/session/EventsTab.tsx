import { clock, Kbd, Visible } from "@sayso/react";
import type { FeedEvent } from "@sayso/sdk";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Copy, Download, Search } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useWords } from "../i18n";
import { copyText } from "../ui/copy";
import { download } from "../ui/download";
import { blurOnEscape } from "../ui/keys";
import { Segments } from "../ui/Segments";
import { EVENT_KINDS, type EventKind, isOfKind, summaryOf } from "./events";
import { RawPane } from "./RawPane";
import { useSessionEvents } from "./useSessionEvents";

/** All events of a session, and the original requests of the agent. */
export function EventsTab({ id }: { id: string }) {
  const t = useWords();
  const events = useSessionEvents(id);
  const [filter, setFilter] = useState("");
  const [kind, setKind] = useState<EventKind>("all");
  const [seq, setSeq] = useState<number>();
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return events.filter(
      (event) => isOfKind(event, kind) && (wanted === "" || JSON.stringify(event).toLowerCase().includes(wanted)),
    );
  }, [events, filter, kind]);
  const open = shown.find((event) => event.seq === seq) ?? shown[0];
  const lines = () => shown.map((event) => JSON.stringify(event)).join("\n");
  return (
    <div className="events">
      <div className="evlist">
        <div className="tools">
          <label className="field find">
            <Search size={14} aria-hidden="true" />
            <input
              id="filter"
              value={filter}
              placeholder={t("events.filter")}
              aria-label={t("events.filter")}
              onChange={(event) => setFilter(event.target.value)}
              onKeyDown={blurOnEscape}
            />
            <Kbd>/</Kbd>
          </label>
          <Segments
            label={t("events.kinds")}
            value={kind}
            options={EVENT_KINDS.map((value) => ({ value, label: t(`events.${value}`) }))}
            onChange={setKind}
          />
          <span className="grow" />
          <button
            type="button"
            className="btn ghost sm"
            aria-label={t("button.copyAsk")}
            onClick={() => copyText(lines())}
          >
            <Copy size={14} aria-hidden="true" />
          </button>
          <button
            type="button"
            className="btn ghost sm"
            onClick={() => download(`${id}.jsonl`, lines(), "application/x-ndjson")}
          >
            <Download size={14} aria-hidden="true" />
            {t("events.lines")}
          </button>
        </div>
        <EventRows events={shown} open={open} onOpen={setSeq} />
      </div>
      {open && <RawPane event={open} />}
    </div>
  );
}

function EventRows({
  events,
  open,
  onOpen,
}: {
  events: FeedEvent[];
  open: FeedEvent | undefined;
  onOpen: (seq: number | undefined) => void;
}) {
  const t = useWords();
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => box.current,
    estimateSize: () => 28,
    overscan: 20,
  });
  return (
    <div className="evrows" ref={box}>
      <div className="evrow head">
        <span>seq</span>
        <span>{t("events.time")}</span>
        <span>{t("events.type")}</span>
        <span>{t("events.what")}</span>
      </div>
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((row) => {
          const event = events[row.index];
          if (!event) return null;
          return (
            <button
              key={event.seq}
              type="button"
              className="evrow"
              aria-current={event === open}
              style={{ transform: `translateY(${row.start}px)` }}
              onClick={() => onOpen(event.seq)}
            >
              <span className="num">{event.seq}</span>
              <span className="num">{event.at && clock(event.at, { seconds: true })}</span>
              <span className="type">{event.type}</span>
              <span className="cut">
                <Visible text={summaryOf(event)} />
              </span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
