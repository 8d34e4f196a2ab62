-- Accounts that have a setting, and what it is.
create or replace function accounts.with_setting(setting text) returns table (account_id uuid, value jsonb) language sql stable as $$
  select id, settings -> setting from accounts.accounts where settings ? setting
$$;
