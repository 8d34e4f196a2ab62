-- A person that an area heard of: `id` is the customer's if one is made.
create type customers.see_item as (
  bucket smallint, account uuid, environment text, id uuid, kind text, address text, name text, at timestamptz, inbound boolean,
  make boolean
);

-- Notes that people were heard of. Whose address nobody has becomes a customer if the item says so; others were seen again,
-- which is written once a minute at most. Gives who was made.
create or replace function customers.see(node uuid, items customers.see_item[]) returns table (made boolean) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  i     customers.see_item;
  fresh int[] := '{}';
  owner uuid;
  n     int;
begin
  -- In one order, so that two calls never wait for each other.
  for n in select k from generate_subscripts(items, 1) k
            order by items[k].account, items[k].environment, items[k].kind, items[k].address, k loop
    i := items[n];
    select a.customer_id into owner from customers.addresses a
     where a.bucket = i.bucket and a.account_id = i.account and a.environment = i.environment
       and a.kind = i.kind and a.address = i.address;
    if owner is not null then
      update customers.customers c
         set name = coalesce(c.name, i.name),
             first_seen_at = case when i.inbound then least(c.first_seen_at, i.at) else c.first_seen_at end,
             last_seen_at = case when i.inbound then greatest(c.last_seen_at, i.at) else c.last_seen_at end
       where c.bucket = i.bucket and c.account_id = i.account and c.environment = i.environment
         -- A row that is being changed is left alone: it would be waited for while addresses are held.
         and c.id = (select l.id from customers.customers l
                      where l.bucket = i.bucket and l.account_id = i.account and l.environment = i.environment and l.id = owner
                        for update skip locked)
         and ((i.inbound and (c.last_seen_at is null or c.last_seen_at < i.at - interval '1 minute'))
              or (c.name is null and i.name is not null));
    elsif i.make then
      insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
      values (i.bucket, i.account, i.environment, i.kind, i.address, i.id)
      on conflict do nothing returning customer_id into owner;
      if owner is not null then
        insert into customers.customers (bucket, account_id, environment, id, name, phone, email, phones, emails,
          first_seen_at, last_seen_at, created_at, updated_at)
        values (i.bucket, i.account, i.environment, i.id, i.name,
          case when i.kind = 'phone' then i.address end, case when i.kind = 'email' then i.address end,
          case when i.kind = 'phone' then array[i.address] else '{}' end,
          case when i.kind = 'email' then array[i.address] else '{}' end,
          case when i.inbound then i.at end, case when i.inbound then i.at end, i.at, i.at);
        fresh := fresh || n;
      end if;
    end if;
  end loop;
  return query select k = any(fresh) from generate_subscripts(items, 1) k order by k;
end $$;
