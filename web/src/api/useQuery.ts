import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Queries, type QueryKey, type QueryState } from "./queries";

/** The default age of a response before it is fetched again, in milliseconds. */
const FRESH_MS = 5_000;

/** The cached responses of this page. Signing out clears them. */
export const queries = new Queries();

/** Fetches visible responses again when the page becomes visible and when the network is back. */
export function useRefresh(): void {
  useEffect(() => {
    const refresh = () => document.visibilityState === "visible" && queries.refresh(FRESH_MS);
    document.addEventListener("visibilitychange", refresh);
    window.addEventListener("online", refresh);
    return () => {
      document.removeEventListener("visibilitychange", refresh);
      window.removeEventListener("online", refresh);
    };
  }, []);
}

interface QueryOptions<T> {
  queryKey: QueryKey;
  queryFn: () => Promise<T>;
  /** Whether the query is enabled. True by default. */
  enabled?: boolean;
  /** The maximum age of a response, in milliseconds. */
  staleTime?: number;
  /** Shows the response of the previous key until the one of a new key arrives. */
  keepPreviousData?: boolean;
}

/** Fetches a response, and shares it with all components that use the same key. */
export function useQuery<T>(options: QueryOptions<T>) {
  const { queryFn, enabled = true, staleTime = FRESH_MS, keepPreviousData = false } = options;
  const name = JSON.stringify(options.queryKey);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a key is equal if its text is.
  const key = useMemo(() => options.queryKey, [name]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key alone identifies the response.
  const subscribe = useCallback(
    (onChange: () => void) => (enabled ? queries.observe(key, queryFn, staleTime, onChange) : () => {}),
    [key, enabled, staleTime],
  );
  const state = useSyncExternalStore(subscribe, () => queries.state(key)) as QueryState<T>;
  const previous = useRef<T>(undefined);
  useEffect(() => {
    if (state.data !== undefined) previous.current = state.data;
  }, [state.data]);
  const data = state.data ?? (keepPreviousData && !state.error ? previous.current : undefined);
  const refetch = useCallback(() => queries.refetch(key), [key]);
  const { error } = state;
  return {
    data,
    error,
    isSuccess: data !== undefined,
    isPending: !error && data === undefined,
    refetch,
  };
}

interface MutationOptions<T, V> {
  mutationFn: (variables: V) => Promise<T>;
  onSuccess?: (data: T) => unknown;
  /** Called after success and after failure. */
  onSettled?: () => unknown;
}

interface MutationState<T> {
  data?: T;
  error?: Error;
  isPending: boolean;
}

/** Sends a change to the server. The result of the last change is kept until the next one. */
export function useMutation<T, V = void>({ mutationFn, onSuccess, onSettled }: MutationOptions<T, V>) {
  const [state, setState] = useState<MutationState<T>>({ isPending: false });
  const latest = useRef(0);
  const mutate = (variables: V, then: { onSuccess?: (data: T) => unknown } = {}) => {
    const call = ++latest.current;
    const show = (next: MutationState<T>) => call === latest.current && setState(next);
    show({ isPending: true });
    mutationFn(variables)
      .then((data) => {
        show({ data, isPending: false });
        onSuccess?.(data);
        then.onSuccess?.(data);
      })
      .catch((error: unknown) => {
        show({ error: error instanceof Error ? error : new Error(String(error)), isPending: false });
      })
      .finally(() => onSettled?.());
  };
  const reset = () => {
    latest.current++;
    setState({ isPending: false });
  };
  return { ...state, isSuccess: "data" in state, mutate, reset };
}
