import type { ReactNode } from "react";
import { useHost } from "../host";

/** The controls of a card. With view-only access they are disabled, and a note explains it. */
export function Controls({ children }: { children: ReactNode }) {
  const { t, readOnly } = useHost();
  if (!readOnly) return children;
  return (
    <>
      <p className="aside">{t("line.readOnly")}</p>
      <fieldset className="look" disabled>
        {children}
      </fieldset>
    </>
  );
}
