-- What becomes of a callback's attempts, as its job has it. Moments are the account's own, in milliseconds.
create or replace function webhooks.tried(attempts smallint, next_at timestamptz) returns jsonb language sql stable as $$
  select jsonb_build_object('attempts', attempts, 'next_ms', floor(extract(epoch from next_at) * 1000)::bigint)
$$;
