-- Cells: the databases of an installation. The home cell is that of DATABASE_URL and has no row in platform.cells; it holds what
-- belongs to no tenant, these tables too, and the buckets that were never moved.

-- One row is a further database and whether buckets may be moved into it.
create table platform.cells (
  name     text primary key check (name ~ '^[a-z][a-z0-9-]{0,30}$' and name <> 'home'),
  state    text not null default 'open' check (state in ('open', 'draining')),
  added_at timestamptz not null default now()
);
comment on table platform.cells is 'Reference: one row is a database beside the home one.';

-- One row is where a bucket lives that was moved: the name of a cell, which may be home again. The epoch counts its moves.
create table platform.buckets (
  bucket   smallint primary key check (bucket between 0 and 255),
  cell     text not null,
  epoch    int not null default 1,
  moved_at timestamptz not null default now()
);
comment on table platform.buckets is 'Reference: one row is where a bucket lives that was moved.';

-- One row is a move of a bucket that has not ended, and the step that is to be done next.
create table platform.bucket_moves (
  bucket     smallint primary key check (bucket between 0 and 255),
  from_cell  text not null,
  to_cell    text not null check (to_cell <> from_cell),
  step       text not null default 'copy' check (step in ('copy', 'follow', 'hold', 'flip', 'drop')),
  started_at timestamptz not null default now(),
  step_at    timestamptz not null default now()
);
comment on table platform.bucket_moves is 'Reference: one row is a move of a bucket that has not ended.';

-- One row is the outcome of a transaction over several cells. The transaction and its recovery both insert it: one of them wins.
create table platform.decisions (
  id      uuid primary key,
  commits boolean not null,
  at      timestamptz not null default now()
);
create index decisions_at on platform.decisions (at);
comment on table platform.decisions is 'Reference: one row is the outcome of a transaction over several cells.';

-- One row, in each database of an installation that has several, is the name of this cell, and the buckets that it admits; null
-- for all. The epoch counts how often they were changed. No row: the only database.
create table platform.this_cell (
  is_one  boolean primary key default true check (is_one),
  name    text not null,
  buckets smallint[],
  epoch   int not null default 1
);
comment on table platform.this_cell is 'Reference: one row is the name of this database, which no other has a copy of.';
