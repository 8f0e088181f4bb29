import { ChevronDown, ChevronRight } from "lucide-react";
import { useHost } from "../host";
import { Kbd } from "./Kbd";
import { Markdown } from "./Markdown";

/** The message of the agent before the ask: three lines, expandable. */
export function Context({ text, whole, toggle }: { text: string; whole: boolean; toggle: () => void }) {
  const { t } = useHost();
  const long = text.length > 240 || text.split("\n").length > 3;
  const Chevron = whole || !long ? ChevronDown : ChevronRight;
  return (
    <div className="ctx" data-whole={whole || !long}>
      <div className="cap">
        <Chevron size={14} aria-hidden="true" />
        {t("context.title")}
        {long && (
          <button type="button" className="more" aria-expanded={whole} aria-keyshortcuts="t" onClick={toggle}>
            {t(whole ? "context.less" : "context.more")} <Kbd>t</Kbd>
          </button>
        )}
      </div>
      <Markdown text={text} />
    </div>
  );
}
