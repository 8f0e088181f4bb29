import { useQuery } from "../api/useQuery";
import { useClient } from "../live/hooks";
import { useSettled } from "../ui/useSettled";
import { compare } from "./model";

const HISTORY = 500;
const PAUSE_MS = 250;

/** Runs a policy on past and waiting asks, a moment after the last keystroke. */
export function useDryRun(policy: string, enabled: boolean) {
  const client = useClient();
  const tried = useSettled(policy, PAUSE_MS);
  return useQuery({
    queryKey: ["dryRun", tried],
    enabled: enabled && tried === policy,
    keepPreviousData: true,
    queryFn: async () => {
      const [before, after, pending] = await Promise.all([
        client.explain({ history: HISTORY, pending: false }),
        client.explain({ history: HISTORY, policy: tried, pending: false }),
        client.explain({ pending: true, policy: tried }),
      ]);
      return { ...compare(after.data, before.data), pending: pending.data };
    },
  });
}
