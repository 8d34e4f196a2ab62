-- The addresses of an account's owners.
create or replace function accounts.owners_of(account uuid) returns setof text language plpgsql stable as $$
begin
  return query select m.email from accounts.members m where m.account_id = account and m.role = 'owner' order by m.id limit 10;
end $$;
