-- SQL of an attribute as a time; null for what is none.
create or replace function customers.attribute_moment(field text) returns text language sql immutable as $$
  select format('case when c.attributes ->> %L ~ ''^\d{4}-\d\d-\d\d'' then (c.attributes ->> %1$L)::timestamptz end', field)
$$;
