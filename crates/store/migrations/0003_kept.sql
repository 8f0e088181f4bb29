-- Outcomes that a caller has not taken: whoever opens such an ask again gets them.
CREATE INDEX ask_untaken ON ask (owner, native_id) WHERE status >= 2 AND delivery = 0 AND connection IS NULL AND native_id IS NOT NULL;
