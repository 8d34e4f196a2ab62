-- How requests with a key are answered unless they say otherwise: whether fields that nobody knows are refused, and which
-- of the two shapes a reply has.
alter table accounts.api_keys
  add column strict boolean not null default false,
  add column envelope text not null default 'both' check (envelope in ('both', 'flat', 'data'));
