import { useEffect } from "react";

/** A note of the system that somebody clicks leads to what it is about. */
export function useNoteClicks(): void {
  useEffect(() => {
    // Pages that are not secure have no worker that would show notes.
    const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
    const listen = ({ data }: MessageEvent) => {
      if (typeof data?.go === "string" && data.go.startsWith("#/")) location.hash = data.go;
    };
    workers?.addEventListener("message", listen);
    return () => workers?.removeEventListener("message", listen);
  }, []);
}
