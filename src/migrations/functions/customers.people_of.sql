-- SQL of the numbers and addresses that an area lists for a condition: everybody who meets it has one of them. Null where no area has
-- such a list, or where somebody else may meet it too.
create or replace function customers.people_of(node jsonb) returns text language plpgsql immutable as $$
declare
  given text := node ->> 'value';
  whose text := '$1, $2, $3';
  since text := case node ->> 'op' when 'within_days' then format('where l.at > $4 - %L::interval', given || ' days') else '' end;
begin
  return case
    when node ->> 'field' = 'paid' and given <> 'false' then format('select l.address from payments.paid(%s) l %s', whose, since)
    -- Sums are told by numbers: those who have several are looked at one by one.
    when node ->> 'field' = 'paid_total' and node ->> 'op' in ('gt', 'gte') and given::numeric > 0 then format(
      'select l.address from payments.paid(%s) l where l.currency = (select accounts.currency_of($2))
        group by l.address having sum(l.amount) >= %L::numeric * 1000000
       union all select c.phones[1] from customers.customers c
        where c.bucket = $1 and c.account_id = $2 and c.environment = $3 and cardinality(c.phones) > 1', whose, given)
    when node ->> 'field' = 'consent.sms' and given = 'withdrawn' then format('select l.address from sms.withdrawals(%s) l', whose)
    when node ->> 'field' = 'consent.email' and given = 'withdrawn' then
      format('select l.address from email.withdrawals(%s, $4) l', whose)
    when node ->> 'field' in ('consent.sms', 'consent.email') and given = 'granted' then format(
      'select g.address from customers.grants g where g.bucket = $1 and g.account_id = $2 and g.environment = $3
        and g.channel = %L and g.purpose = ''marketing''', substr(node ->> 'field', length('consent.') + 1))
    when node ->> 'field' = 'consent.messenger' and given in ('granted', 'withdrawn') then
      format('select l.address from messenger.wishes(%s) l where l.granted = %L::boolean', whose, given = 'granted')
  end;
end $$;
