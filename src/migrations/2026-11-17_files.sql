-- Files of customers: what is known of each. Their bytes are in a directory or an object store, sealed with a key of their own.

create domain platform.file_state as text check (value in ('arriving', 'kept', 'dropped'));

-- One row is a file: one that is on its way in, one that is kept, or one that was and whose key is gone.
create table platform.files (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  kind        text not null,
  state       platform.file_state not null,
  -- Where its bytes are: `disk` or `s3`.
  place       text not null,
  -- The key of its bytes, sealed under the account's data key. Without it nobody can read them any more.
  key         bytea,
  name        text,
  type        text not null,
  bytes       bigint not null default 0,
  sha256      bytea,
  created_at  timestamptz not null,
  expires_at  timestamptz,
  dropped_at  timestamptz,
  -- Null while there may still be bytes of a file that was dropped.
  removed_at  timestamptz,
  primary key (bucket, account_id, environment, id)
);

create index files_expiring on platform.files (bucket, expires_at) where state = 'kept' and expires_at is not null;
create index files_arriving on platform.files (bucket, id) where state = 'arriving';
create index files_to_remove on platform.files (bucket, id) where state = 'dropped' and removed_at is null;
create index files_removed on platform.files (bucket, removed_at) where state = 'dropped' and removed_at is not null;
