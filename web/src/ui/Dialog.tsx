import { type ReactNode, useId, useLayoutEffect, useRef } from "react";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  footer?: ReactNode;
  /** Shows the dialog at the right edge, with the height of the window. */
  sheet?: boolean;
  /** Hides the title and the padding, for content with its own. */
  bare?: boolean;
  children: ReactNode;
}

/** A native dialog. The browser traps the focus, closes it with Escape, and returns the focus. */
export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <OpenDialog {...rest} /> : null;
}

function OpenDialog({ onClose, title, description, footer, sheet, bare, children }: Omit<DialogProps, "open">) {
  const id = useId();
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      className="veil"
      aria-labelledby={`${id}-title`}
      aria-describedby={description ? `${id}-more` : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === box.current && onClose()}
    >
      <div className={sheet ? "dlg sheet" : bare ? "dlg bare" : "dlg"}>
        <div className={bare ? "hidden" : "h"}>
          <h2 id={`${id}-title`}>{title}</h2>
          {description && (
            <p className="muted" id={`${id}-more`}>
              {description}
            </p>
          )}
        </div>
        <div className="b">{children}</div>
        {footer && <div className="f">{footer}</div>}
      </div>
    </dialog>
  );
}
