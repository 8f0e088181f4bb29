import * as Radix from "@radix-ui/react-dialog";
import type { ReactNode } from "react";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  footer?: ReactNode;
  /** At the right edge, as high as the window. */
  sheet?: boolean;
  children: ReactNode;
}

/** A dialog: traps the focus, closes with Escape, gives the focus back. */
export function Dialog({ open, onClose, title, description, footer, sheet, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(on) => !on && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="veil">
          <Radix.Content
            className={sheet ? "dlg sheet" : "dlg"}
            {...(description ? {} : { "aria-describedby": undefined })}
          >
            <div className="h">
              <Radix.Title>{title}</Radix.Title>
              {description && <Radix.Description className="muted">{description}</Radix.Description>}
            </div>
            <div className="b">{children}</div>
            {footer && <div className="f">{footer}</div>}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}
