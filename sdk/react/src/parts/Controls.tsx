import type { ReactNode } from "react";
import { useHost } from "../host";

/** What a card asks for. Who only looks is told so, and nothing takes a click. */
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
