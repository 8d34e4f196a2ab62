-- The messages that carriers' ids stand for, and which part of them. A function for the reason that sms.messages_at is one.
create or replace function sms.messages_named(p_carriers text[], p_ids text[])
  returns table (carrier text, carrier_id text, part smallint, parts smallint, message sms.messages) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query select c.carrier, c.id, c.part, c.parts, m from unnest(p_carriers, p_ids) as w(carrier, id)
    join sms.carrier_ids c on c.carrier = w.carrier and c.id = w.id
    join sms.messages m
      on m.bucket = c.bucket and m.account_id = c.account_id and m.environment = c.environment and m.id = c.message_id;
end $$;
