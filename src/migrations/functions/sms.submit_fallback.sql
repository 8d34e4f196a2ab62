-- A message as sms.submit takes it, and where it goes on. timer is the job that looks when the time is up.
create type sms.submit_fallback_item as (
  bucket smallint, account uuid, environment text, id uuid, recipient text, sender text, body text, encoding text,
  segments smallint, unit_price bigint, cost bigint, currency text, country text, network text, type text, validity int,
  metadata jsonb, reference text, callback_url text, batch uuid, batch_index smallint, scheduled_at timestamptz,
  created_at timestamptz, refusal text, request text,
  charge ledger.charge_item, job work.job_item, audit platform.audit_item, key platform.idempotency_item,
  callback_final boolean,
  fallback jsonb, timer work.job_item
);

-- Accepts messages as sms.submit does, and keeps with those that were accepted where they go on.
create or replace function sms.submit_fallback(node uuid, items sms.submit_fallback_item[])
  returns table (seen text, verdict text, existing uuid) language plpgsql
  set plan_cache_mode = force_generic_plan as $$
declare
  said record;
  item sms.submit_fallback_item;
begin
  for said in
    select s.seen, s.verdict, s.existing, s.n
      from sms.submit(node, array(
             select row(i.bucket, i.account, i.environment, i.id, i.recipient, i.sender, i.body, i.encoding, i.segments,
                        i.unit_price, i.cost, i.currency, i.country, i.network, i.type, i.validity, i.metadata, i.reference,
                        i.callback_url, i.batch, i.batch_index, i.scheduled_at, i.created_at, i.refusal, i.request, i.charge,
                        i.job, i.audit, i.key, i.callback_final)::sms.submit_item
               from unnest(items) i)) with ordinality as s(seen, verdict, existing, n)
     order by s.n
  loop
    item := items[said.n];
    if said.seen is null and said.verdict = 'accepted' then
      insert into sms.fallbacks (bucket, account_id, environment, message_id, content)
      values (item.bucket, item.account, item.environment, item.id, item.fallback);
      perform work.add(array[item.timer]);
    end if;
    seen := said.seen;
    verdict := said.verdict;
    existing := said.existing;
    return next;
  end loop;
end $$;
