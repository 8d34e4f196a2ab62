-- Begins sessions, each in full or not at all: the money set aside, the row, its dialog, the timer and what is told of it.
-- Gives 'begun', 'duplicate' (the session_id was used before), 'insufficient', 'live' (one that is to be alone, of a phone that
-- has a session on the shortcode) or 'known' (one that is to be new, whose dialog or name was there before). `told` is the first
-- question to the application, where the subscriber began.
create type ussd.begin_item as (
  bucket smallint, account uuid, environment text, id uuid, session_id text, direction text, phone text, shortcode text,
  network text, language text, gateway text, dialog text, status text, awaiting text, input text, mark text, screen text, message uuid,
  timeout int, setup jsonb, menu jsonb, data bytea, history jsonb, metadata text, cost bigint, currency text,
  resumed_from text, request_hash text, at timestamptz, expires_at timestamptz, is_alone boolean,
  is_new boolean, timer work.job_item, event events.event_item, told events.event_item
);

-- Dialogs that must be new are claimed first, then sessions are made, and wallets are locked last, each in the order of their
-- key, so that two batches do not wait for each other. A wallet is changed once for all of its sessions.
create or replace function ussd.begin(node uuid, items ussd.begin_item[])
  returns table (verdict text, deliveries text, told_to text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  item     ussd.begin_item;
  some_new boolean := false;
  some_old boolean := false;
  is_short boolean := false;
  claimed  uuid[] := '{}';
  verdicts text[] := array_fill('duplicate'::text, array[cardinality(items)]);
  holds    ledger.charge_item[] := '{}';
  held     text[];
  owners   int[] := '{}';
  jobs     work.job_item[] := '{}';
  news     events.event_item[] := '{}';
  heard    text[];
  place    int := 0;
  k        int;
begin
  foreach item in array items loop
    some_new := some_new or item.is_new;
    some_old := some_old or item.is_new is not true;
  end loop;
  if some_new then
    with taken as (
      insert into ussd.dialogs (gateway, dialog, bucket, account_id, environment, session)
      select i.gateway, i.dialog, i.bucket, i.account, i.environment, i.id from unnest(items) i
       where i.is_new order by i.gateway, i.dialog, i.bucket
      on conflict do nothing returning session)
    select coalesce(array_agg(t.session), '{}') into claimed from taken t;
  end if;
  for k in select i from generate_subscripts(items, 1) i order by (items[i]).bucket, (items[i]).account, (items[i]).environment loop
    item := items[k];
    if item.is_new and item.id <> all(claimed) then
      verdicts[k] := 'known';
      continue;
    end if;
    insert into ussd.sessions (bucket, account_id, environment, id, session_id, direction, phone, shortcode, network, language,
                               gateway, dialog, status, awaiting, step, input, mark, screen, page, message, first_message,
                               timeout, setup, menu, data, history, metadata, cost, currency, resumed_from, request_hash,
                               created_at, updated_at, expires_at)
    select  item.bucket, item.account, item.environment, item.id, item.session_id, item.direction, item.phone, item.shortcode,
            item.network, item.language, item.gateway, item.dialog, item.status, item.awaiting, 1, item.input, item.mark,
            item.screen, 0, item.message, item.message, item.timeout, item.setup, item.menu, item.data, item.history,
            item.metadata, item.cost, item.currency, item.resumed_from, item.request_hash, item.at, item.at, item.expires_at
     where not (item.is_new and exists (
             select from ussd.sessions s
              where s.bucket = item.bucket and s.account_id = item.account and s.environment = item.environment
                and s.session_id = item.dialog))
       and not (item.is_alone and exists (
             select from ussd.sessions s
              where s.bucket = item.bucket and s.account_id = item.account and s.environment = item.environment
                and s.phone = item.phone and s.shortcode = item.shortcode and s.awaiting <> 'nobody'))
    on conflict do nothing;
    if not found then
      if item.is_new and exists (
           select from ussd.sessions s
            where s.bucket = item.bucket and s.account_id = item.account and s.environment = item.environment
              and s.session_id = item.dialog) then
        verdicts[k] := 'known';
      elsif item.is_alone and exists (
              select from ussd.sessions s
               where s.bucket = item.bucket and s.account_id = item.account and s.environment = item.environment
                 and s.phone = item.phone and s.shortcode = item.shortcode and s.awaiting <> 'nobody') then
        verdicts[k] := 'live';
      end if;
    else
      verdicts[k] := 'begun';
    end if;
    if verdicts[k] <> 'begun' then
      delete from ussd.dialogs d where item.is_new and d.gateway = item.gateway and d.dialog = item.dialog
         and d.bucket = item.bucket;
    elsif item.cost > 0 then
      holds := holds || row(item.bucket, item.account, item.environment, item.currency, item.cost, item.id, 'session', null, null)::ledger.charge_item;
      owners := owners || k;
    end if;
  end loop;
  -- Wallets are locked last: sessions that begin or end on the same one wait until the commit lets it go. If one is short, all
  -- that was written since is undone, and the money decides first.
  loop
    begin
      if is_short then
        held := ledger.hold_many(holds);
        for k in 1 .. cardinality(held) loop
          continue when held[k] <> 'insufficient';
          item := items[owners[k]];
          verdicts[owners[k]] := 'insufficient';
          delete from ussd.sessions s where s.bucket = item.bucket and s.account_id = item.account
             and s.environment = item.environment and s.id = item.id;
          delete from ussd.dialogs d where item.is_new and d.gateway = item.gateway and d.dialog = item.dialog
             and d.bucket = item.bucket;
        end loop;
      end if;
      jobs := '{}';
      news := '{}';
      for k in 1 .. cardinality(items) loop
        continue when verdicts[k] <> 'begun';
        item := items[k];
        jobs := jobs || item.timer;
        news := news || item.event;
        if (item.told).id is not null then
          news := news || item.told;
        end if;
      end loop;
      if some_old then
        for k in select i from generate_subscripts(items, 1) i order by (items[i]).gateway, (items[i]).dialog, (items[i]).bucket loop
          item := items[k];
          continue when item.is_new or verdicts[k] <> 'begun';
          insert into ussd.dialogs (gateway, dialog, bucket, account_id, environment, session)
          values (item.gateway, item.dialog, item.bucket, item.account, item.environment, item.id)
          on conflict (gateway, dialog, bucket) do update set session = excluded.session, account_id = excluded.account_id,
            environment = excluded.environment;
        end loop;
      end if;
      if cardinality(jobs) > 0 then
        perform work.add(jobs);
        heard := events.emit(news);
      end if;
      if cardinality(holds) > 0 and not is_short then
        if 'insufficient' = any(ledger.hold_many(holds)) then
          raise exception 'a wallet is short' using errcode = 'LB002';
        end if;
      end if;
      exit;
    exception when sqlstate 'LB002' then
      is_short := true;
    end;
  end loop;
  for k in 1 .. cardinality(items) loop
    verdict := verdicts[k];
    deliveries := null;
    told_to := null;
    if verdict = 'begun' then
      place := place + 1;
      deliveries := heard[place];
      if (items[k].told).id is not null then
        place := place + 1;
        told_to := heard[place];
      end if;
    end if;
    return next;
  end loop;
end $$;
