import { useEffect } from "react";

/** Opens the ask of a system notification when it is clicked. */
export function useNotificationClicks(): void {
  useEffect(() => {
    // Without a secure context there is no service worker.
    const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
    const listen = ({ data }: MessageEvent) => {
      if (typeof data?.go === "string" && data.go.startsWith("#/")) location.hash = data.go;
    };
    workers?.addEventListener("message", listen);
    return () => workers?.removeEventListener("message", listen);
  }, []);
}
