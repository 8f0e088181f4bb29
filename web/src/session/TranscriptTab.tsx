import { AgentTile, type Ask, clock, Markdown, Visible } from "@sayso/react";
import { Info, TriangleAlert } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Session } from "../api/client";
import { useShell } from "../app/shellContext";
import { useWords } from "../i18n";
import { Composer } from "./Composer";
import { SessionCard } from "./SessionCard";
import { ToolLine } from "./ToolLine";
import type { Entry } from "./transcript";
import { useTranscript } from "./useTranscript";

/** The conversation as a chat, with the message field. */
export function TranscriptTab({ session }: { session: Session }) {
  const t = useWords();
  const { dialog } = useShell();
  const { entries, streaming, loaded } = useTranscript(session.id);
  const scroll = useStickToEnd(entries.length, streaming.length);
  const active = activeAsk(entries);
  return (
    <>
      <div className="threadbox" ref={scroll}>
        <div className="thread" role="log" aria-label={t("session.transcript")}>
          {entries.map((entry, index) => (
            <EntryView
              key={entry.id}
              entry={entry}
              agent={session.agent}
              head={showsHead(entries, index)}
              active={dialog === "none" && askOf(entry)?.id === active}
            />
          ))}
          {streaming && (
            <div className="msg streaming">
              <Markdown text={streaming} />
              <span className="caret" aria-hidden="true" />
            </div>
          )}
          {loaded && entries.length === 0 && !streaming && <p className="none">{t("session.empty")}</p>}
        </div>
      </div>
      <Composer session={session} />
    </>
  );
}

const askOf = (entry: Entry): Ask | undefined =>
  entry.kind === "ask" || entry.kind === "tool" ? entry.ask : undefined;

/** The keys control the last waiting ask. */
function activeAsk(entries: Entry[]): string | undefined {
  return entries.map(askOf).findLast((ask) => ask?.status === "pending")?.id;
}

function showsHead(entries: Entry[], index: number): boolean {
  const entry = entries[index];
  if (entry?.kind !== "message" || entry.role !== "assistant") return false;
  const before = entries[index - 1];
  return !(before?.kind === "message" && before.role === "assistant" && before.subagent === entry.subagent);
}

interface EntryProps {
  entry: Entry;
  agent: string;
  head: boolean;
  active: boolean;
}

function EntryView({ entry, agent, head, active }: EntryProps) {
  switch (entry.kind) {
    case "message":
      if (entry.role === "user") {
        return (
          <div className="msg you">
            <Visible text={entry.text} />
          </div>
        );
      }
      return (
        <div className="msg">
          {head && (
            <div className="who">
              <AgentTile agent={agent} />
              <b>
                <Visible text={entry.subagent ?? agent} />
              </b>
              <time dateTime={entry.at}>{clock(entry.at)}</time>
            </div>
          )}
          <Markdown text={entry.text} />
        </div>
      );
    case "tool":
      if (!entry.ask || entry.ask.outcome?.by.kind === "policy") return <ToolLine tool={entry.tool} ask={entry.ask} />;
      return (
        <div className="joined">
          <SessionCard ask={entry.ask} active={active} />
          {entry.tool.output !== null && <ToolLine tool={entry.tool} ask={undefined} />}
        </div>
      );
    case "ask":
      return <SessionCard ask={entry.ask} active={active} />;
    case "notice":
      return (
        <p className="notice" data-error={entry.error}>
          {entry.error ? <TriangleAlert size={14} aria-hidden="true" /> : <Info size={14} aria-hidden="true" />}
          <Visible text={entry.text} />
        </p>
      );
    case "unknown":
      return (
        <pre className="raw">
          <Visible text={entry.text} />
        </pre>
      );
  }
}

/** Follows the end of the conversation, unless the person scrolled up. */
function useStickToEnd(...changes: number[]) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const onScroll = () => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 80;
    };
    const observer = new ResizeObserver(() => {
      if (atEnd.current) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener("scroll", onScroll, { passive: true });
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    if (box.current && atEnd.current && changes.length > 0) box.current.scrollTop = box.current.scrollHeight;
  }, [changes]);
  return box;
}
