import { Copy, WrapText } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { FileDiff } from "../api";
import { useHost } from "../host";
import { type DiffLine, readDiff, statOf } from "../model/diff";
import { plain } from "../model/invisible";
import { Visible } from "./Visible";

const SIGN = { add: "+", del: "-", same: "", hunk: "" } as const;

/** The complete diff of one file. */
export function DiffView({ file }: { file: FileDiff }) {
  const { t, copy } = useHost();
  const lines = useMemo(() => readDiff(file.diff), [file.diff]);
  const { added, removed } = statOf(lines);
  const [box, seen] = useSeen(lines.length);
  const [wrap, setWrap] = useState(true);
  return (
    <div className="diff">
      <div className="fhead">
        <span className="mono cut">
          <Visible text={file.path} />
        </span>
        <span className="stat">
          <span className="p">+{added}</span> <span className="n">-{removed}</span>
        </span>
        <span className="gap" />
        {seen < lines.length && <span className="muted num">{t("approval.seen", { seen, total: lines.length })}</span>}
        <button
          type="button"
          className="btn ghost sm"
          aria-label={t("diff.wrap")}
          title={t("diff.wrap")}
          aria-pressed={wrap}
          onClick={() => setWrap(!wrap)}
        >
          <WrapText size={14} strokeWidth={1.75} aria-hidden="true" />
        </button>
        <button type="button" className="btn ghost sm" aria-label={t("button.copy")} onClick={() => copy(file.diff)}>
          <Copy size={14} strokeWidth={1.75} aria-hidden="true" />
        </button>
      </div>
      <div
        className="lines"
        data-wrap={wrap}
        ref={box}
        role="region"
        tabIndex={0}
        data-preview
        aria-label={t("diff.label", { file: plain(file.path) })}
      >
        {lines.map((line, index) => (
          <LineView key={index} line={line} />
        ))}
      </div>
    </div>
  );
}

function LineView({ line }: { line: DiffLine }) {
  const { t } = useHost();
  const { mark, text } = line;
  return (
    <div className="dl" data-kind={line.kind}>
      <span>{line.old}</span>
      <span>{line.now}</span>
      <span>
        {SIGN[line.kind]}
        {line.kind === "add" && <span className="hidden">{t("diff.added")}</span>}
        {line.kind === "del" && <span className="hidden">{t("diff.removed")}</span>}
      </span>
      <span>
        {mark && mark.to > mark.from ? (
          <>
            <Visible text={text.slice(0, mark.from)} />
            <mark>
              <Visible text={text.slice(mark.from, mark.to)} />
            </mark>
            <Visible text={text.slice(mark.to)} />
          </>
        ) : (
          <Visible text={text} />
        )}
      </span>
    </div>
  );
}

/** The number of lines that have been in view so far. */
function useSeen(total: number) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(total);
  useEffect(() => {
    const element = box.current;
    if (!element || typeof IntersectionObserver !== "function") return;
    let most = 0;
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) most = Math.max(most, [...element.children].indexOf(entry.target) + 1);
      }
      setSeen(most);
    });
    for (const line of element.children) observer.observe(line);
    return () => observer.disconnect();
  }, []);
  return [box, seen] as const;
}
