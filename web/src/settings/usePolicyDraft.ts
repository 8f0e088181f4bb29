import { useEffect, useRef, useState } from "react";
import type { PolicyEdit, PolicyForm, PolicyView } from "../api/client";
import { queries, useMutation, useQuery } from "../api/useQuery";
import { useClient } from "../live/hooks";
import { useSettled } from "../ui/useSettled";

const PAUSE_MS = 250;

/** An unsaved text, and the file that it was made from. */
interface Draft {
  text: string;
  began: PolicyView;
}

/**
 * The policy while it is edited. The text is the only state: the form is parsed from it, and the server applies a change of the
 * form to it and keeps comments and formatting.
 */
export function usePolicyDraft() {
  const client = useClient();
  const policy = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const [draft, setDraft] = useState<Draft>();
  const text = draft?.text ?? policy.data?.text ?? "";
  const savedText = policy.data?.text;
  const settled = useSettled(text, PAUSE_MS);
  const read = (wanted: string) => ({
    queryKey: ["policyForm", wanted],
    queryFn: () => client.editPolicy({ text: wanted, edits: [] }),
    enabled: policy.isSuccess,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const form = useQuery({ ...read(settled), keepPreviousData: true });
  const saved = useQuery(read(savedText ?? ""));
  const save = useMutation({
    mutationFn: (wanted: Draft) =>
      client.savePolicy({ text: wanted.text, ifFingerprint: wanted.began.textFingerprint ?? "" }),
    onSuccess: (view) => {
      queries.set(["policy"], view);
      queries.invalidate(["ruleHits"]);
      setDraft(undefined);
    },
  });
  const began = draft?.began ?? policy.data;
  const setText = (next: string) => {
    if (began) setDraft({ text: next, began });
  };

  // Changes are applied one after the other, each to the result of the previous one.
  const latest = useRef(text);
  useEffect(() => {
    latest.current = text;
  }, [text]);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const change = (edits: PolicyEdit[]): Promise<PolicyForm> => {
    const applied = queue.current.then(async () => {
      const next = await client.editPolicy({ text: latest.current, edits });
      latest.current = next.text;
      queries.set(["policyForm", next.text], next);
      setText(next.text);
      return next;
    });
    queue.current = applied.catch(() => {});
    return applied;
  };
  const discard = () => {
    setDraft(undefined);
    save.reset();
    void policy.refetch();
  };
  return {
    policy,
    text,
    setText,
    change,
    discard,
    save,
    saveNow: () => draft && save.mutate(draft),
    changed: draft !== undefined && draft.text !== savedText,
    /** The parsed policy. Undefined if the text was never valid. */
    form: form.data,
    error: form.error,
    saved: saved.data,
  };
}

export type PolicyDraft = ReturnType<typeof usePolicyDraft>;
