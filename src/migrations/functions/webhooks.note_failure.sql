-- Notes a delivery that failed, so that those are found among all others.
create or replace function webhooks.note_failure() returns trigger language plpgsql as $$
begin
  insert into webhooks.failures (bucket, account_id, environment, endpoint_id, id)
  values (new.bucket, new.account_id, new.environment, new.endpoint_id, new.id) on conflict do nothing;
  return null;
end $$;
