-- Numbers that an account texted, and when. A door for segments; planned as a part of the query that asks.
create or replace function sms.texted(p_account uuid, p_environment text)
  returns table (address text, at timestamptz) language sql stable as $$
  select m.recipient, m.created_at from sms.messages m
   where m.account_id = p_account and m.environment = p_environment and m.direction = 'outbound' and m.status <> 'failed'
$$;
