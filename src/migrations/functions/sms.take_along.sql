-- Lets the ids of carriers move with the bucket of their messages, where there are several databases. Their key does not name the
-- bucket, by which changes are chosen for the other database, so the whole row has to be in its log. The locks that this takes
-- stop all reading and writing of the table for a moment, so it does nothing where it was done.
create or replace function sms.take_along() returns void language plpgsql as $$
begin
  if (select c.relreplident <> 'f' from pg_class c where c.oid = 'sms.carrier_ids'::regclass) then
    alter table sms.carrier_ids replica identity full;
  end if;
  if not exists (select from pg_trigger t
                  where t.tgrelid = 'sms.carrier_ids'::regclass and t.tgname = 'without_early' and t.tgenabled = 'R') then
    create or replace trigger without_early before insert on sms.carrier_ids
      for each row execute function sms.give_way();
    alter table sms.carrier_ids enable replica trigger without_early;
  end if;
end $$;
