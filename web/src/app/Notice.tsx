import { Check } from "lucide-react";
import { useNotice } from "./notice";

/** A message that confirms an action and disappears after a few seconds. */
export function Notice() {
  const notice = useNotice();
  return (
    <div className="notices" role="status">
      {notice && (
        <span className="said">
          <Check size={14} strokeWidth={2.5} aria-hidden="true" />
          {notice}
        </span>
      )}
    </div>
  );
}
