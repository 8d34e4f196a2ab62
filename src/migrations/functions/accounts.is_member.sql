-- Whether somebody is a member of an account who can sign in.
create or replace function accounts.is_member(account uuid, member uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from accounts.members m where m.id = member and m.account_id = account and m.status = 'active');
end $$;
