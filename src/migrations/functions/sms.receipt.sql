-- What the network says of parts: status is delivered or failed. A message is delivered when all its parts are and
-- failed when one is; what is over stays as it is, so that doubled, late and disordered receipts change nothing.
-- carrier_id is set when the receipt waited for its message under it; transfer is the one that gives the price back, null
-- where it stays paid. Gives whether this receipt was the one that changed the message.
create type sms.receipt_item as (
  bucket smallint, account uuid, environment text, id uuid, part smallint, parts smallint, carrier text, carrier_id text,
  status text, error_code text, carrier_code text, at timestamptz,
  event events.event_item, narrow_type text, narrow_head text, transfer uuid
);

-- A part counts only while its carrier has the message. One that could not be delivered goes over another carrier whole and
-- under a new reference, and no handset joins parts of the first copy with parts of the second; what arrived in one part
-- arrived, whoever brought it. Of a message that this makes failed the price goes back with the transfer, if its receipt
-- names one.
create or replace function sms.receipt(node uuid, items sms.receipt_item[])
  returns table (changed boolean, wide text, narrow text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  some_parted boolean;
  some_early  boolean;
  some_free   boolean;
  stale       int[] := '{}';
  fresh       int[];
  gone        ledger.charge_item[];
  wides       events.event_item[];
  types       text[];
  heads       text[];
  many        int;
  told        text[];
begin
  -- One statement unpacks the items for all that follows, while each of them changes its message.
  select bool_or(i.parts > 1 and i.status = 'delivered'), bool_or(i.carrier_id is not null), bool_or(i.transfer is not null),
         array_agg(i.event), array_agg(i.narrow_type), array_agg(i.narrow_head)
    into some_parted, some_early, some_free, wides, types, heads from unnest(items) i;
  if some_parted then
    -- Locked, so that no message goes to another carrier between this and the next statement.
    with heard as materialized (
      select n, m.route is distinct from items[n].carrier as is_stale
        from generate_subscripts(items, 1) n
        join sms.messages m on m.bucket = items[n].bucket and m.account_id = items[n].account
                           and m.environment = items[n].environment and m.id = items[n].id
       where items[n].parts > 1 and items[n].status = 'delivered'
       order by m.bucket, m.account_id, m.environment, m.id for no key update of m)
    select coalesce(array_agg(h.n) filter (where h.is_stale), '{}') into stale from heard h;
  end if;

  -- One row for each message of the batch: the parts that arrived, and the receipt that speaks for it.
  with heard as (
    select h.*, items[h.speaker].status as verdict, items[h.speaker].at as at, items[h.speaker].error_code as error_code,
           items[h.speaker].carrier_code as carrier_code
      from (select i.bucket, i.account, i.environment, i.id,
                   bit_or(case when i.status = 'delivered' then 1::bigint << i.part else 0 end) as mask,
                   min((1::bigint << i.parts) - 1) as whole,
                   coalesce(min(i.n) filter (where i.status = 'failed'), max(i.n))::int as speaker
              from (select u.*, row_number() over () as n from unnest(items) u) i
             where i.n <> all(stale) group by 1, 2, 3, 4) h
  ), changed as (
    update sms.messages m
       set delivered_parts = m.delivered_parts | h.mask,
           status = case when h.verdict = 'failed' then 'failed'
                         when (m.delivered_parts | h.mask) & h.whole = h.whole then 'delivered' else m.status end,
           delivered_at = case when h.verdict = 'delivered' and (m.delivered_parts | h.mask) & h.whole = h.whole then h.at end,
           failed_at = case when h.verdict = 'failed' then h.at end,
           error_code = h.error_code, carrier_code = h.carrier_code
      from heard h
     where m.bucket = h.bucket and m.account_id = h.account and m.environment = h.environment and m.id = h.id
       and m.status = 'sent'
    returning m.status, h.speaker)
  select coalesce(array_agg(c.speaker order by c.speaker) filter (where c.status <> 'sent'), '{}') into fresh from changed c;
  if some_early then
    update sms.carrier_ids c set early = null from unnest(items) i
     where c.carrier = i.carrier and c.id = i.carrier_id and c.early is not null;
  end if;

  if some_free then
    gone := array(
      select row(m.bucket, m.account_id, m.environment, m.currency, m.cost, m.id, sms.charge_step(m.charges),
                 items[n].transfer, 'revenue:sms')::ledger.charge_item
        from unnest(fresh) n
        join sms.messages m on m.bucket = items[n].bucket and m.account_id = items[n].account
                           and m.environment = items[n].environment and m.id = items[n].id
       where items[n].transfer is not null and m.status = 'failed');
    perform ledger.uncharge(gone);
    update sms.messages m set cost = 0
      from unnest(gone) g
     where m.bucket = g.bucket and m.account_id = g.account_id and m.environment = g.environment and m.id = g.source_id;
  end if;

  many := cardinality(fresh);
  if many = cardinality(items) then
    told := events.emit_twins(wides, types, heads);
    return query select true, t.wide, t.narrow from unnest(told[1:many], told[many + 1:many * 2]) as t(wide, narrow);
    return;
  end if;
  if many > 0 then
    select array_agg(items[n].event order by n), array_agg(items[n].narrow_type order by n),
           array_agg(items[n].narrow_head order by n) into wides, types, heads from unnest(fresh) n;
    told := events.emit_twins(wides, types, heads);
  end if;
  return query
    select n = any(fresh), told[array_position(fresh, n)], told[many + array_position(fresh, n)]
      from generate_subscripts(items, 1) n order by n;
end $$;
