import { Kbd } from "@sayso/react";
import type { PageKey } from "../i18n";
import { useWords } from "../i18n";
import { useIsAdmin } from "../live/hooks";
import { Dialog } from "../ui/Dialog";

const KEYS: [PageKey, string[]][] = [
  ["keys.next", ["j", "k"]],
  ["keys.choose", ["1", "9"]],
  ["keys.options", ["↑", "↓"]],
  ["keys.send", ["Enter"]],
  ["keys.submit", ["Ctrl", "↵"]],
  ["keys.yes", ["a"]],
  ["keys.no", ["d"]],
  ["keys.reason", ["r"]],
  ["keys.stop", ["D"]],
  ["keys.edit", ["e"]],
  ["keys.undo", ["u"]],
  ["keys.snooze", ["s"]],
  ["keys.note", ["n"]],
  ["keys.rule", ["m"]],
  ["keys.select", ["x", "X"]],
  ["keys.context", ["t"]],
  ["keys.preview", ["p"]],
  ["keys.session", ["o"]],
  ["keys.copy", ["y"]],
  ["keys.filter", ["/"]],
  ["keys.new", ["c"]],
  ["keys.help", ["?"]],
  ["keys.back", ["Esc"]],
];

/** All keys. */
export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const t = useWords();
  const isAdmin = useIsAdmin();
  return (
    <Dialog open={open} onClose={onClose} title={t("nav.keys")}>
      <dl className="keys">
        {KEYS.filter(([words]) => isAdmin || words !== "keys.rule").map(([words, keys]) => (
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
