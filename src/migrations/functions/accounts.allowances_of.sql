-- What an operator gave an account beside its plan.
create or replace function accounts.allowances_of(account uuid) returns jsonb language sql stable as $$
  select allowances from accounts.accounts where id = account
$$;
