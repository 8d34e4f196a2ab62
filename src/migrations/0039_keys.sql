-- How requests with a key are answered unless they say otherwise: whether fields that nobody knows are refused, and which
-- of the two shapes a reply has.
alter table accounts.api_keys
  add column strict boolean not null default false,
  add column envelope text not null default 'both' check (envelope in ('both', 'flat', 'data'));

-- When it was told that a key is old enough to be replaced; null while it is not.
alter table accounts.api_keys add column rotation_told_at timestamptz;
create index api_keys_untold on accounts.api_keys (created_at) where rotation_told_at is null and revoked_at is null;
