-- Notes a message that failed, so that those are found among all others.
create or replace function sms.note_failure() returns trigger language plpgsql as $$
begin
  insert into sms.failures (bucket, account_id, environment, id)
  values (new.bucket, new.account_id, new.environment, new.id) on conflict do nothing;
  return null;
end $$;
