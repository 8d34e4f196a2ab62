-- A receipt that came before its message waits in every database. When the message comes along with its bucket, the receipt has
-- been read where the message was.
create or replace function sms.give_way() returns trigger language plpgsql as $$
begin
  delete from sms.carrier_ids c where c.carrier = new.carrier and c.id = new.id and c.bucket is null;
  return new;
end $$;
