-- Whether an event's body has what an endpoint wants to hear of: each path holds its value. Escapes that jsonb does not
-- take (U+0000 and halves of surrogate pairs) are left out for the comparison; an escaped backslash stays what it is.
create or replace function webhooks.passes(filters jsonb, body text) returns boolean language sql immutable as $$
  select not exists (
    select from jsonb_each(filters) f
     where f.value #>> '{}' is distinct from
           regexp_replace(body, '(\\\\)|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1', 'g')::jsonb
             #>> string_to_array(f.key, '.'))
$$;
