-- An attempt that is about to be sent, and as what the provider will know it, where that is known before.
create type payments.begin_sending_item as (
  bucket smallint, account uuid, environment text, id uuid, provider_id text, at timestamptz,
  job uuid, job_attempt int, again_ms bigint, sent_by text
);

-- Gives who may send: whoever says so first. The job of whoever may waits from now on for when the provider is asked how it
-- went, so that it need not be put off by a commit of its own.
create or replace function payments.begin_sending(node uuid, items payments.begin_sending_item[])
  returns table (begun boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  fresh bigint[];
  jobs  work.settle_item[];
begin
  with begun as (
    update payments.attempts a
       set state = 'sending', provider_id = coalesce(a.provider_id, i.provider_id), sent_by = i.sent_by,
           updated_at = i.at
      from (select u.*, row_number() over () as n from unnest(items) u order by u.bucket, u.account, u.environment, u.id) i
     where a.bucket = i.bucket and a.account_id = i.account and a.environment = i.environment and a.id = i.id
       and a.state = 'planned'
    returning i.n, i.bucket, i.job, i.job_attempt, i.again_ms)
  select array_agg(b.n),
         array_agg(row(b.bucket, b.job, b.job_attempt, b.again_ms, null)::work.settle_item) filter (where b.job is not null)
    into fresh, jobs from begun b;
  if jobs is not null then perform work.settle(node, jobs); end if;
  return query select coalesce(n = any(fresh), false) from generate_subscripts(items, 1) n order by n;
end $$;
