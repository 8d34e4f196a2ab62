-- Requests a minute that an account has for a limit, its own before its plan's; null is no limit.
create or replace function accounts.limit_of(account uuid, wanted text) returns int language sql stable as $$
  select case when a.limits ? wanted then (a.limits ->> wanted)::int else (p.limits ->> wanted)::int end
    from accounts.accounts a join accounts.plans p on p.name = a.plan where a.id = account
$$;
