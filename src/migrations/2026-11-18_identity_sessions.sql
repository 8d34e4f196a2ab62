-- One row is a person who is asked to show a document and a face on a page of ours, which makes a verification.
create table identity.sessions (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  token           bytea not null,
  status          text not null check (status in ('created', 'opened', 'capturing', 'submitted', 'verified', 'rejected',
                                                  'review', 'expired', 'cancelled')),
  -- Documents that are taken; null for all that the country has.
  document_types  text[],
  country         text,
  checks          text[] not null,
  redirect_url    text,
  language        text,
  created_by      text not null,
  -- Under the account's key: who the account says it is.
  person_sealed   bytea,
  subject_index   bytea,
  -- Hash of the secret of the browser in which the person agreed, and what they agreed to.
  browser_hash    bytea,
  consent         jsonb,
  tries           smallint not null default 0,
  tries_allowed   smallint not null,
  refusals        smallint not null default 0,
  received_bytes  int not null default 0,
  -- Why the last try failed.
  failure_reasons jsonb not null default '[]',
  verification_id uuid,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  opened_at       timestamptz,
  submitted_at    timestamptz,
  completed_at    timestamptz,
  primary key (bucket, account_id, environment, id)
);
create unique index sessions_token on identity.sessions (bucket, token);
create index sessions_verification on identity.sessions (bucket, account_id, environment, verification_id)
  where verification_id is not null;
create index sessions_subject on identity.sessions (bucket, account_id, environment, subject_index)
  where subject_index is not null;
create index sessions_due on identity.sessions (bucket, expires_at) where status in ('created', 'opened', 'capturing');
create index sessions_old on identity.sessions (bucket, created_at);

-- One row is a part of a picture of a session that is on its way.
create table identity.session_parts (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  session_id  uuid not null,
  picture     text not null,
  start       int not null,
  bytes       int not null,
  file_id     uuid not null,
  primary key (bucket, account_id, environment, session_id, picture, start)
);
