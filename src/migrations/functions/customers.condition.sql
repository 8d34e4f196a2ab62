-- SQL of a segment's filter, over a row `c` of customers.customers of the account `$2` at the time `$4`. The filter was checked before it was stored;
-- what it does not know gives null, which fails the query. `offset 0` keeps what is looked up of each customer from becoming a join, which
-- would read a whole list for a few.
create or replace function customers.condition(node jsonb) returns text language plpgsql immutable as $$
declare
  field text := node ->> 'field';
  op    text := node ->> 'op';
  given jsonb := node -> 'value';
  sign  text := case node ->> 'op' when 'lt' then '<' when 'lte' then '<=' when 'gt' then '>' when 'gte' then '>=' end;
  whose text := 'c.bucket, c.account_id, c.environment';
  said  text;
  since text;
begin
  if node ? 'and' then
    return (select '(' || string_agg(customers.condition(n), ' and ') || ')' from jsonb_array_elements(node -> 'and') n);
  elsif node ? 'or' then
    return (select '(' || string_agg(customers.condition(n), ' or ') || ')' from jsonb_array_elements(node -> 'or') n);
  elsif node ? 'not' then
    return '(' || customers.condition(node -> 'not') || ') is not true';
  end if;
  if op = 'within_days' then since := format('$4 - %L::interval', (node ->> 'value') || ' days'); end if;
  if field in ('name', 'language', 'country', 'timezone') then
    return case op
      when 'eq' then format('c.%I = %L', field, given #>> '{}')
      when 'in' then format('c.%I = any(%L::text[])', field, array(select jsonb_array_elements_text(given)))
      when 'exists' then format('c.%I is %s null', field, case when given = 'false' then '' else 'not' end) end;
  elsif field in ('first_seen_at', 'last_seen_at', 'created_at') then
    return case
      when op = 'exists' then format('c.%I is %s null', field, case when given = 'false' then '' else 'not' end)
      when since is not null then format('c.%I > %s', field, since)
      else format('c.%I %s %L::timestamptz', field, sign, given #>> '{}') end;
  elsif field = 'tags' then
    return case op
      when 'eq' then format('c.tags @> %L::text[]', array[lower(given #>> '{}')])
      when 'in' then format('c.tags && %L::text[]', array(select lower(jsonb_array_elements_text(given))))
      when 'exists' then format('(c.tags <> ''{}'') = %L::boolean', given #>> '{}') end;
  elsif starts_with(field, 'attributes.') then
    field := substr(field, length('attributes.') + 1);
    return case
      when op = 'eq' then format('c.attributes @> %L::jsonb', jsonb_build_object(field, given))
      when op = 'in' then (select '(' || string_agg(format('c.attributes @> %L::jsonb', jsonb_build_object(field, v)), ' or ') || ')'
                             from jsonb_array_elements(given) v)
      when op = 'exists' then format('(c.attributes ? %L) = %L::boolean', field, given #>> '{}')
      when since is not null then format('%s > %s', customers.attribute_moment(field), since)
      when jsonb_typeof(given) = 'number' then
        format('case when jsonb_typeof(c.attributes -> %L) = ''number'' then (c.attributes ->> %1$L)::numeric %s %s end',
          field, sign, given)
      else format('%s %s %L::timestamptz', customers.attribute_moment(field), sign, given #>> '{}') end;
  elsif field = 'consent.messenger' then
    said := format('from messenger.wishes(%s) w where w.address = any(c.phones)', whose);
    return case given #>> '{}'
      when 'granted' then format('exists (select %s and w.granted offset 0)', said)
      when 'withdrawn' then format('exists (select %s and not w.granted offset 0)', said)
      when 'unknown' then format('not exists (select %s offset 0)', said) end;
  elsif field = 'consent.voice' then
    whose := 'select from customers.grants g where g.bucket = c.bucket and g.account_id = c.account_id and g.environment = c.environment
      and g.channel = ''voice'' and g.purpose = ''marketing'' and g.address = any(c.phones)';
    return case given #>> '{}'
      when 'unknown' then format('not exists (%s offset 0)', whose)
      else format('exists (%s and g.state = %L offset 0)', whose, given #>> '{}') end;
  elsif field in ('consent.sms', 'consent.email') then
    field := substr(field, length('consent.') + 1);
    said := case field
      when 'sms' then format('exists (select from sms.withdrawals(%s) w where w.address = %%s offset 0)', whose)
      else format('exists (select from email.withdrawals(%s, $4) w where w.address = %%s offset 0)', whose) end;
    since := case field when 'sms' then 'any(c.phones)' else 'any(c.emails)' end;
    whose := format('select from customers.grants g where g.bucket = c.bucket and g.account_id = c.account_id
      and g.environment = c.environment and g.channel = %L and g.purpose = ''marketing'' and g.address = %s', field, since);
    return case given #>> '{}'
      when 'granted' then format('exists (%s and not %s offset 0)', whose, format(said, 'g.address'))
      when 'withdrawn' then format(said, since)
      when 'unknown' then format('not (%s or exists (%s offset 0))', format(said, since), whose) end;
  elsif field = 'paid' then
    -- Looked up by number, not by time: each customer would read all payments of the days.
    said := format('exists (select from payments.paid(%s) p where p.address = any(c.phones)%s offset 0)', whose,
      case when since is null then '' else format(' and (p.at > %s) is true', since) end);
    return case when given = 'false' then 'not ' else '' end || said;
  elsif field = 'paid_total' then
    return format('(select coalesce(sum(p.amount), 0) from payments.paid(%s) p where p.address = any(c.phones)
      and p.currency = (select accounts.currency_of($2))) %s %s::numeric * 1000000', whose, sign, given);
  elsif field = 'sent' then
    said := format('exists (select from sms.texted(c.account_id, c.environment) m where m.address = any(c.phones)%s offset 0)',
      case when since is null then '' else ' and m.at > ' || since end);
    return case when given = 'false' then 'not ' else '' end || said;
  end if;
  return null;
end $$;
