-- An area for tests and benchmarks: a write that touches everything a paid send touches, without a carrier.

create schema if not exists notes;

create domain notes.status as text check (value in ('queued', 'published'));

-- One row is a note somebody paid for.
create table notes.notes (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  text        text not null,
  status      notes.status not null,
  cost        bigint not null,
  currency    text not null,
  reference   text,
  primary key (bucket, account_id, environment, id)
);
-- A customer's own name for a note is used once.
create unique index notes_reference on notes.notes (bucket, account_id, environment, reference) where reference is not null;
