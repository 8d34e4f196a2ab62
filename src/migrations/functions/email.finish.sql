create type email.finish_item as (
  bucket smallint, account uuid, environment text, message uuid, number smallint, job uuid, attempt int, status text, attempts smallint,
  smtp_code smallint, enhanced_code text, smtp_response text, mx text, tls text, tls_level text, bounce_type text, reason text, at timestamptz,
  next_attempt_at timestamptz, delay_ms bigint, transfer uuid, suppression uuid, suppress text, address text, events jsonb
);

-- Stores what became of recipients: their status moves on, never back; the job ends, or waits for delay_ms; a price goes back where a
-- transfer is named; an address is suppressed where a reason is. What changes nothing is told to nobody. `changed` is false then.
create or replace function email.finish(node uuid, items email.finish_item[])
  returns table (changed boolean, deliveries text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item  email.finish_item;
  fresh int[];
  news  events.event_item[];
  told  text[];
  place int := 0;
  many  int;
  price record;
begin
  with updated as (
    update email.recipients r
       set status = i.status, attempts = greatest(r.attempts, i.attempts), smtp_code = i.smtp_code, enhanced_code = i.enhanced_code,
           smtp_response = i.smtp_response, mx = coalesce(i.mx, r.mx), tls = case when i.tls_level is null then r.tls else i.tls end,
           tls_level = coalesce(i.tls_level, r.tls_level), bounce_type = i.bounce_type,
           reason = i.reason, next_attempt_at = i.next_attempt_at, sent_at = case when i.status = 'failed' then r.sent_at else coalesce(r.sent_at, i.at) end,
           delivered_at = case when i.status = 'delivered' then i.at else r.delivered_at end,
           bounced_at = case when i.status = 'bounced' then i.at end,
           deferred = r.deferred or i.next_attempt_at is not null
      from (select u.*, row_number() over () as n from unnest(items) u) i
     where r.bucket = i.bucket and r.account_id = i.account and r.environment = i.environment and r.message_id = i.message
       and r.number = i.number
       and (r.status in ('scheduled', 'queued', 'sent') or (r.status = 'delivered' and i.status = 'bounced'))
    returning i.n)
  select coalesce(array_agg(u.n), '{}') into fresh from updated u;
  update email.messages m set status = s.status, reason = coalesce(s.reason, m.reason)
    from (select r.bucket, r.account_id, r.environment, r.message_id,
                 (array_agg(r.status order by email.rank(r.status)))[1] as status, max(r.reason) as reason
            from (select distinct i.bucket, i.account, i.environment, i.message from unnest(items) i) d
            join email.recipients r on r.bucket = d.bucket and r.account_id = d.account and r.environment = d.environment
                                   and r.message_id = d.message
           group by 1, 2, 3, 4) s
   where m.bucket = s.bucket and m.account_id = s.account_id and m.environment = s.environment and m.id = s.message_id
     and (m.status <> s.status or m.reason is distinct from s.reason);
  delete from work.jobs j using unnest(items) i
   where i.delay_ms is null and j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  if exists (select from unnest(items) i where i.delay_ms is not null) then
    update work.jobs j set run_at = now() + i.delay_ms * interval '1 millisecond', owner = null, failures = 0 from unnest(items) i
     where i.delay_ms is not null and j.bucket = any(array[i.bucket]) and j.id = i.job and j.attempt = i.attempt;
  end if;

  news := array(
    select jsonb_populate_record(null::events.event_item, x.event)
      from (select u.events, row_number() over () as n from unnest(items) u) i
     cross join lateral jsonb_array_elements(i.events) with ordinality as x(event, nth)
     where i.n = any(fresh) order by i.n, x.nth);
  if cardinality(news) > 0 then told := events.emit(news); end if;
  for n in 1 .. cardinality(items) loop
    item := items[n];
    changed := n = any(fresh);
    deliveries := null;
    if changed then
      if item.transfer is not null then
        select m.unit_price, m.currency into price from email.messages m
         where m.bucket = item.bucket and m.account_id = item.account and m.environment = item.environment and m.id = item.message;
        if price.unit_price > 0 then
          perform ledger.post(item.bucket, item.account, item.environment, item.message, 'refund:' || item.number,
                              array[row(item.transfer, 'revenue:email', 'wallet', price.unit_price, price.currency)::ledger.leg], null, 'Email not sent');
          update email.messages m set cost = m.cost - price.unit_price
           where m.bucket = item.bucket and m.account_id = item.account and m.environment = item.environment and m.id = item.message;
        end if;
      end if;
      if item.suppress is not null then
        insert into email.suppressions (bucket, account_id, environment, email, id, reason, applies_to, message_id, detail, created_at)
        values (item.bucket, item.account, item.environment, item.address, item.suppression, item.suppress, 'all', item.message,
                item.reason, item.at)
        on conflict (bucket, account_id, environment, email) do update
          set reason = excluded.reason, applies_to = 'all', detail = excluded.detail where email.suppressions.applies_to = 'bulk';
      end if;
      many := coalesce(jsonb_array_length(item.events), 0);
      deliveries := array_to_string(told[place + 1 : place + many], '|', '');
      place := place + many;
    end if;
    return next;
  end loop;
end $$;
