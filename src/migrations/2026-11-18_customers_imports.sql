-- One row is an import of customers from a file, and how far it has come. `rows_read` is where it goes on after a crash.
create table customers.imports (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  state       text not null check (state in ('running', 'completed', 'failed')),
  reason      text,
  format      text not null check (format in ('csv', 'jsonl')),
  file_id     uuid not null,
  file_name   text,
  file_bytes  bigint not null,
  bytes_read  bigint not null default 0,
  rows_read   int not null default 0,
  created     int not null default 0,
  updated     int not null default 0,
  unchanged   int not null default 0,
  failed      int not null default 0,
  withdrawn   int not null default 0,
  job         uuid not null,
  started_by  text,
  created_at  timestamptz not null,
  finished_at timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- One row is a row of a file that was not imported, and why. It names no value of the file, which may be somebody's number.
create table customers.import_errors (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  import_id   uuid not null,
  line        int not null,
  code        text not null,
  field       text,
  message     text not null,
  customer_id uuid,
  primary key (bucket, account_id, environment, import_id, line)
);
