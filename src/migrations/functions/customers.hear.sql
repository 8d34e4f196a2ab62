-- Keeps the events that tell of people until they are noted.
create or replace function customers.hear(items events.event_item[]) returns void language plpgsql as $$
declare
  i events.event_item;
begin
  if items is null then return; end if;
  foreach i in array items loop
    if customers.hears(i.type) then
      insert into customers.heard (bucket, account_id, environment, id) values (i.bucket, i.account_id, i.environment, i.id);
    end if;
  end loop;
end $$;
