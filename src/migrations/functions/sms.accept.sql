-- Takes messages in: 'accepted', 'insufficient', 'opted_out', or 'duplicate' with the message that has the reference.
-- Without p_charge nothing is paid: a long transaction does that last, so that the wallet is not locked meanwhile. What every
-- message of a batch has in common (nobody refused, no references, no audit) is asked once, in the one statement that unpacks
-- the items for all that follows while nothing is refused.
create or replace function sms.accept(items sms.submit_item[], p_charge boolean) returns sms.verdict[] language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  many     int := cardinality(items);
  verdicts text[];
  existing uuid[] := array_fill(null::uuid, array[many]);
  referred boolean;
  named    uuid[];
  paying   int[];
  charges  ledger.charge_item[];
  charged  text[];
  jobs     work.job_item[];
  audits   platform.audit_item[];
  taken    sms.submit_item[] := items;
begin
  select array_agg(case when i.refusal is not null or exists (
                     select from sms.opt_outs o
                      where o.bucket = i.bucket and o.account_id = i.account and o.environment = i.environment
                        and o.phone = i.recipient and o.sender_form in ('*', sms.sender_form(i.sender))) then 'opted_out' end),
         bool_or(i.reference is not null), array_agg(i.charge), array_agg(i.job),
         array_agg(i.audit) filter (where (i.audit).id is not null)
    into verdicts, referred, charges, jobs, audits from unnest(items) i;
  if referred then
    with made as (
      insert into sms.references (bucket, account_id, environment, reference, message_id)
      select items[n].bucket, items[n].account, items[n].environment, items[n].reference, items[n].id
        from generate_subscripts(items, 1) n
       where items[n].reference is not null and (verdicts[n] is null or items[n].batch is not null)
       order by 1, 2, 3, 4, n
      on conflict do nothing returning message_id)
    select array_agg(m.message_id) into named from made m;
    -- A statement of its own, so that it sees what another node committed meanwhile.
    select array_agg(r.message_id order by n) into existing
      from generate_subscripts(items, 1) n
      left join sms.references r
        on r.bucket = items[n].bucket and r.account_id = items[n].account and r.environment = items[n].environment
       and r.reference = items[n].reference and not items[n].id = any(coalesce(named, '{}'));
    verdicts := array(select case when existing[n] is null then verdicts[n] else 'duplicate' end
                        from generate_subscripts(items, 1) n order by n);
  end if;

  if array_remove(verdicts, null) = '{}' then
    if p_charge then charged := ledger.charge(charges); end if;
    if 'insufficient' = any(charged) then
      verdicts := array(select case c.verdict when 'insufficient' then 'insufficient' else 'accepted' end
                          from unnest(charged) with ordinality as c(verdict, n) order by c.n);
    else
      verdicts := array_fill('accepted'::text, array[many]);
    end if;
  else
    paying := array(select n from generate_subscripts(items, 1) n where verdicts[n] is null order by n);
    if p_charge and cardinality(paying) > 0 then
      charged := ledger.charge(array(
        select items[p.n].charge from unnest(paying) with ordinality as p(n, ord) order by p.ord));
    end if;
    verdicts := array(select coalesce(v.verdict, case charged[array_position(paying, v.n::int)]
                                                   when 'insufficient' then 'insufficient' else 'accepted' end)
                        from unnest(verdicts) with ordinality as v(verdict, n) order by v.n);
  end if;
  if referred and 'insufficient' = any(charged) then
    delete from sms.references r using generate_subscripts(items, 1) n
     where verdicts[n] = 'insufficient' and r.bucket = items[n].bucket and r.account_id = items[n].account
       and r.environment = items[n].environment and r.reference = items[n].reference and r.message_id = items[n].id;
  end if;

  if not 'accepted' = all(verdicts) then
    taken := array(select items[n] from generate_subscripts(items, 1) n where verdicts[n] = 'accepted' order by n);
    jobs := array(select i.job from unnest(taken) i);
    audits := array(select i.audit from unnest(taken) i where (i.audit).id is not null);
    -- Those of a batch that were refused are kept as failed ones.
    insert into sms.messages
           (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding, segments, unit_price,
            cost, currency, country, network, type, validity, metadata, reference, callback_url, callback_final, batch_id, batch_index,
            scheduled_at, created_at, failed_at, error_code, request_id)
    select i.bucket, i.account, i.environment, i.id, 'outbound', 'failed', i.recipient, i.sender, i.body, i.encoding,
           i.segments, i.unit_price, 0, i.currency, i.country, i.network, i.type, i.validity, coalesce(i.metadata, '{}'),
           i.reference, i.callback_url, i.callback_final, i.batch, i.batch_index, i.scheduled_at, i.created_at, i.created_at, 'OPTED_OUT',
           i.request
      from unnest(array(select items[n] from generate_subscripts(items, 1) n
                         where verdicts[n] = 'opted_out' and items[n].batch is not null)) i;
  end if;
  if cardinality(taken) > 0 then
    insert into sms.messages
           (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding, segments, unit_price,
            cost, currency, country, network, type, validity, metadata, reference, callback_url, callback_final, batch_id, batch_index,
            scheduled_at, created_at, request_id, job)
    select i.bucket, i.account, i.environment, i.id, 'outbound', 'queued', i.recipient, i.sender, i.body, i.encoding,
           i.segments, i.unit_price, i.cost, i.currency, i.country, i.network, i.type, i.validity,
           coalesce(i.metadata, '{}'), i.reference, i.callback_url, i.callback_final, i.batch, i.batch_index, i.scheduled_at, i.created_at,
           i.request, (i.job).id
      from unnest(taken) i;
    perform work.add(jobs);
    if cardinality(audits) > 0 then perform platform.record(audits); end if;
  end if;
  return array(select row(v.verdict, v.existing)::sms.verdict from unnest(verdicts, existing) as v(verdict, existing));
end $$;
