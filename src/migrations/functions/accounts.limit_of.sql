-- Requests a minute that an account has for a limit, its own before its plan's; null is no limit.
create or replace function accounts.limit_of(account uuid, name text) returns int language sql stable as $$
  select case when a.limits ? name then (a.limits ->> name)::int else (p.limits ->> name)::int end
    from accounts.accounts a join accounts.plans p on p.name = a.plan where a.id = account
$$;
