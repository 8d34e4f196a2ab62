create type email.track_item as (
  bucket smallint, account uuid, environment text, message uuid, number smallint, kind text, link smallint, machine boolean,
  at timestamptz, suppression uuid, address text, detail text, opened jsonb, event jsonb
);

-- Stores what recipients did: opened, clicked, unsubscribed, complained. The first of its kind is told (of clicks: the first of each
-- link), repeats only count. A click by somebody whose pictures were not loaded is an open too.
create or replace function email.track(node uuid, items email.track_item[])
  returns table (opened_told text, told text) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  item       email.track_item;
  known      email.recipients;
  is_opened  boolean;
  is_told    boolean;
begin
  foreach item in array items loop
    opened_told := null;
    told := null;
    select r.* into known from email.recipients r
     where r.bucket = item.bucket and r.account_id = item.account and r.environment = item.environment and r.message_id = item.message
       and r.number = item.number for update;
    if found then
      is_opened := item.kind in ('open', 'click') and not item.machine and known.opened_at is null;
      is_told := case item.kind
        when 'open' then item.machine and known.machine_opens = 0 and known.opened_at is null
        when 'click' then not item.link = any(known.clicked_links)
        when 'unsubscribe' then known.unsubscribed_at is null
        else known.complained_at is null end;
      update email.recipients r
         set opened_at = case when is_opened then item.at else r.opened_at end,
             open_count = r.open_count + case when item.kind = 'open' and not item.machine or item.kind = 'click' and is_opened then 1 else 0 end,
             machine_opens = r.machine_opens + case when item.kind = 'open' and item.machine then 1 else 0 end,
             clicked_at = case when item.kind = 'click' and not item.machine then coalesce(r.clicked_at, item.at) else r.clicked_at end,
             click_count = r.click_count + case when item.kind = 'click' then 1 else 0 end,
             clicked_links = case when item.kind = 'click' and is_told then r.clicked_links || item.link else r.clicked_links end,
             unsubscribed_at = case when item.kind = 'unsubscribe' then coalesce(r.unsubscribed_at, item.at) else r.unsubscribed_at end,
             complained_at = case when item.kind = 'complain' then coalesce(r.complained_at, item.at) else r.complained_at end
       where r.bucket = item.bucket and r.account_id = item.account and r.environment = item.environment
         and r.message_id = item.message and r.number = item.number;
      if item.kind in ('unsubscribe', 'complain') then
        insert into email.suppressions (bucket, account_id, environment, email, id, reason, applies_to, message_id, detail, created_at)
        values (item.bucket, item.account, item.environment, lower(known.email), item.suppression,
                case item.kind when 'complain' then 'complaint' else 'unsubscribe' end,
                case item.kind when 'complain' then 'all' else 'bulk' end, item.message, item.detail, item.at)
        on conflict (bucket, account_id, environment, email) do update
          set reason = excluded.reason, applies_to = excluded.applies_to, detail = excluded.detail, expires_at = null
          where email.suppressions.applies_to = 'bulk';
      end if;
      if is_opened and item.opened is not null then
        opened_told := coalesce((events.emit(email.events_of(item.opened)))[1], '');
      end if;
      if is_told and item.event is not null then
        told := array_to_string(events.emit(email.events_of(item.event)), '|', '');
      end if;
    end if;
    return next;
  end loop;
end $$;
