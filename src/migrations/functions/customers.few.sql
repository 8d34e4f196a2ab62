-- Ids of customers among whom is everybody of a segment, if the areas tell that they are few; null if not.
create or replace function customers.few(p_bucket smallint, p_account uuid, p_environment text, p_filter jsonb, p_segment uuid,
  p_at timestamptz, p_most int) returns uuid[] language plpgsql stable as $$
declare
  listed  text;
  people  text[];
  found   uuid[];
  members uuid[];
  node    jsonb;
begin
  if p_filter is null then
    found := array(select m.customer_id from customers.segment_members m where m.bucket = p_bucket and m.account_id = p_account
      and m.environment = p_environment and m.segment_id = p_segment limit p_most + 1);
  elsif p_filter ? 'and' then
    for node in select n from jsonb_array_elements(p_filter -> 'and') n loop
      members := customers.few(p_bucket, p_account, p_environment, node, null, p_at, p_most);
      if members is not null and (found is null or cardinality(members) < cardinality(found)) then found := members; end if;
    end loop;
  elsif p_filter ? 'or' then
    found := '{}';
    for node in select n from jsonb_array_elements(p_filter -> 'or') n loop
      members := customers.few(p_bucket, p_account, p_environment, node, null, p_at, p_most);
      if members is null then return null; end if;
      found := found || members;
    end loop;
  else
    listed := customers.people_of(p_filter);
    if listed is null then return null; end if;
    execute format('select array_agg(l.address) from (%s limit %s) l', listed, p_most + 1)
      into people using p_bucket, p_account, p_environment, p_at;
    if cardinality(people) > p_most then return null; end if;
    found := array(
      select a.customer_id from unnest(people) w(address)
       cross join lateral (
         select o.customer_id from customers.addresses o
          where o.bucket = p_bucket and o.account_id = p_account and o.environment = p_environment and o.address = w.address
            and o.kind <> 'external' limit 1) a);
  end if;
  return case when cardinality(found) <= p_most then found end;
end $$;
