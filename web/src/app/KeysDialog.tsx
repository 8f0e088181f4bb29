import { Kbd } from "@sayso/react";
import type { PageKey } from "../i18n";
import { useWords } from "../i18n";
import { useIsAdmin, useMayAnswer } from "../live/hooks";
import { Dialog } from "../ui/Dialog";

/** The description of a shortcut, its keys, and the permission that it requires. */
const KEYS: [PageKey, string[], ("answer" | "admin")?][] = [
  ["keys.next", ["j", "k"]],
  ["keys.choose", ["1", "9"], "answer"],
  ["keys.options", ["↑", "↓"], "answer"],
  ["keys.send", ["Enter"], "answer"],
  ["keys.submit", ["Ctrl", "↵"], "answer"],
  ["keys.yes", ["a"], "answer"],
  ["keys.no", ["d"], "answer"],
  ["keys.reason", ["r"], "answer"],
  ["keys.stop", ["D"], "answer"],
  ["keys.edit", ["e"], "answer"],
  ["keys.undo", ["u"], "answer"],
  ["keys.snooze", ["s"], "answer"],
  ["keys.note", ["n"], "answer"],
  ["keys.rule", ["m"], "admin"],
  ["keys.select", ["x", "X"], "answer"],
  ["keys.context", ["t"], "answer"],
  ["keys.preview", ["p"], "answer"],
  ["keys.session", ["o"]],
  ["keys.copy", ["y"]],
  ["keys.palette", ["Ctrl", "k"]],
  ["keys.filter", ["/"]],
  ["keys.new", ["c"], "answer"],
  ["keys.help", ["?"]],
  ["keys.back", ["Esc"]],
];

/** The dialog that lists all shortcuts. */
export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const t = useWords();
  const may = { answer: useMayAnswer(), admin: useIsAdmin() };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={t("nav.keys")}
      footer={
        <button type="button" className="btn" onClick={onClose}>
          {t("button.close")} <Kbd>Esc</Kbd>
        </button>
      }
    >
      <dl className="keys">
        {KEYS.filter(([, , who]) => !who || may[who]).map(([words, keys]) => (
          <div key={words}>
            <dt>{t(words)}</dt>
            <dd>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p className="muted">{t("keys.rest")}</p>
    </Dialog>
  );
}
