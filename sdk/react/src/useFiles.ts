import { useEffect, useState } from "react";
import type { Ask, AskFiles } from "./api";
import { useHost } from "./host";
import type { Sending } from "./model/sender";

/** The files that the command of an ask executes. Loads them when the card appears, and again after they change. */
export function useFiles(ask: Ask, sending: Sending | undefined): AskFiles | undefined {
  const { readFiles, readOnly } = useHost();
  const [files, setFiles] = useState<AskFiles>();
  const wanted = ask.status === "pending" && ask.executes?.readable === true && !readOnly;
  const refused = sending?.phase === "failed" && sending.error.details.changes ? sending : undefined;
  useEffect(() => {
    if (!wanted || !readFiles) return;
    let stale = false;
    // After a refusal, the files on the card are out of date.
    if (refused) setFiles(undefined);
    readFiles(ask.id).then(
      (read) => !stale && setFiles(read),
      // The card shows that the content is not available.
      () => !stale && setFiles(undefined),
    );
    return () => {
      stale = true;
    };
  }, [wanted, readFiles, ask.id, refused]);
  return wanted ? files : undefined;
}
