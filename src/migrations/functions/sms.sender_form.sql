-- The form in which senders are held against each other.
create or replace function sms.sender_form(sender text) returns text language sql immutable as $$
  select upper(ltrim(sender, '+') collate "C")
$$;
