-- Takes sessions a turn on, each if it is still where it was read (step, whose turn, mark): the row, and what is told of it. One
-- that ends with a transfer pays what was set aside for it; one that ends without gets it back.
create type ussd.advance_item as (
  bucket smallint, account uuid, environment text, id uuid, step int, awaiting text, page int, next_step int,
  next_awaiting text, next_page int, status text, reason text, input text, mark text, screen text, message uuid, menu jsonb,
  data bytea, entry jsonb, at timestamptz, expires_at timestamptz, transfer uuid,
  event events.event_item, over events.event_item
);

-- Rows are locked first and wallets last, each in the order of their key, so that two batches do not wait for each other; what
-- is told is written before, since sessions that begin or end on the same wallet wait until it is let go by the commit. A
-- wallet is changed once for all of its sessions that end with a transfer, unless one of the batch ends without.
create or replace function ussd.advance(node uuid, items ussd.advance_item[])
  returns table (stored boolean, deliveries text, over_to text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  item  ussd.advance_item;
  moved boolean[] := array_fill(false, array[cardinality(items)]);
  paid  text;
  price bigint;
  frees boolean := false;
  pay   ledger.charge_item;
  pays  ledger.charge_item[] := '{}';
  news  events.event_item[] := '{}';
  heard text[];
  place int := 0;
  k     int;
begin
  for k in select i from generate_subscripts(items, 1) i
            order by (items[i]).bucket, (items[i]).account, (items[i]).environment, (items[i]).id loop
    item := items[k];
    update ussd.sessions s
       set step = item.next_step, awaiting = item.next_awaiting, page = item.next_page, status = item.status,
           reason = item.reason, input = item.input, mark = item.mark, screen = coalesce(item.screen, s.screen),
           message = coalesce(item.message, s.message), menu = coalesce(item.menu, s.menu), data = coalesce(item.data, s.data),
           history = case when item.entry is null then s.history else s.history || item.entry end,
           updated_at = item.at, expires_at = item.expires_at,
           ended_at = case when item.next_awaiting = 'nobody' then item.at end,
           cost = case when item.next_awaiting = 'nobody' and item.transfer is null then 0 else s.cost end
     where s.bucket = item.bucket and s.account_id = item.account and s.environment = item.environment and s.id = item.id
       and s.step = item.step and s.awaiting = item.awaiting and s.page = item.page
       -- A push that the network has shown since it was read does not end free of charge.
       and (item.next_awaiting <> 'nobody' or item.transfer is not null or item.reason = 'undeliverable' or s.shown_at is null)
    returning s.cost, s.currency into price, paid;
    moved[k] := found;
    continue when not found or item.next_awaiting <> 'nobody';
    frees := frees or item.transfer is null;
    if item.transfer is null or price > 0 then
      pays := pays || row(item.bucket, item.account, item.environment, paid, price, item.id, 'charge', item.transfer, 'revenue:ussd')::ledger.charge_item;
    end if;
  end loop;
  for k in 1 .. cardinality(items) loop
    continue when not moved[k];
    item := items[k];
    if (item.event).id is not null then
      news := news || item.event;
    end if;
    if (item.over).id is not null then
      news := news || item.over;
    end if;
  end loop;
  if cardinality(news) > 0 then
    heard := events.emit(news);
  end if;
  if frees then
    foreach pay in array pays loop
      if pay.transfer_id is null then
        perform ledger.release(pay.bucket, pay.account_id, pay.environment, pay.source_id, 'session');
      else
        perform ledger.capture(pay.bucket, pay.account_id, pay.environment, pay.source_id, 'session', pay.step, pay.amount,
                               pay.credit, pay.transfer_id);
      end if;
    end loop;
  elsif cardinality(pays) > 0 then
    perform ledger.capture_holds(pays, 'session');
  end if;
  for k in 1 .. cardinality(items) loop
    stored := moved[k];
    deliveries := null;
    over_to := null;
    if moved[k] and (items[k].event).id is not null then
      place := place + 1;
      deliveries := heard[place];
    end if;
    if moved[k] and (items[k].over).id is not null then
      place := place + 1;
      over_to := heard[place];
    end if;
    return next;
  end loop;
end $$;
