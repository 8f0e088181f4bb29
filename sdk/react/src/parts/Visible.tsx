import { Fragment } from "react";
import { useHost } from "../host";
import { pieces } from "../model/invisible";

/** Text of an agent: never markup, and invisible characters are shown as their codes. */
export function Visible({ text }: { text: string }) {
  const { t } = useHost();
  let at = 0;
  return (
    <>
      {pieces(text).map((piece) => {
        const key = at++;
        if ("text" in piece) return <Fragment key={key}>{piece.text}</Fragment>;
        return (
          <span key={key} className="inv" title={t("invisible", { code: piece.code })}>
            {piece.code}
          </span>
        );
      })}
    </>
  );
}
