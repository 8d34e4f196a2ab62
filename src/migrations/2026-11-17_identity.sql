-- Identity checks. Personal data lies sealed under a key of the record, which is itself sealed under the account's key:
-- erasing a record destroys that key. What is searched for (numbers, phones, devices) is a keyed fingerprint.
create schema if not exists identity;

-- One row is the verification of one person with one document.
create table identity.verifications (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  status          text not null check (status in ('pending', 'verified', 'rejected', 'expired')),
  stage           text not null check (stage in ('queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done')),
  document_type   text not null,
  country         text not null,
  checks          text[] not null,
  reference       text,
  previous        uuid,
  callback_url    text,
  request_id      text,
  created_by      text not null,
  metadata        jsonb not null,
  -- The key of the record; null once it is erased.
  record_key      bytea,
  -- Under that key: the claims of the request, and later the document, its checks and the face template.
  claims_sealed   bytea,
  findings_sealed bytea,
  template_sealed bytea,
  -- Files in platform storage, by the field they came in.
  images          jsonb not null,
  -- Outcome without anything personal.
  outcome         jsonb,
  number_index    bytea,
  subject_index   bytea,
  device_index    bytea,
  expires_on      date,
  tries           smallint not null default 0,
  registry_until  timestamptz,
  review_until    timestamptz,
  is_held         boolean not null default false,
  images_until    timestamptz not null,
  record_until    timestamptz not null,
  images_erased_at timestamptz,
  erased_at       timestamptz,
  created_at      timestamptz not null,
  completed_at    timestamptz,
  primary key (bucket, account_id, environment, id)
);
create index verifications_number on identity.verifications (bucket, account_id, environment, number_index)
  where number_index is not null;
create index verifications_subject on identity.verifications (bucket, account_id, environment, subject_index)
  where subject_index is not null;
create index verifications_device on identity.verifications (bucket, account_id, environment, device_index)
  where device_index is not null;
create index verifications_reference on identity.verifications (bucket, account_id, environment, reference, id)
  where reference is not null;
create index verifications_expiry on identity.verifications (bucket, expires_on) where status = 'verified';
create index verifications_images on identity.verifications (bucket, images_until) where images_erased_at is null;
create index verifications_records on identity.verifications (bucket, record_until) where erased_at is null;
create index verifications_review on identity.verifications (bucket, review_until) where stage = 'awaiting_review';

-- One row is something that was done to a check, chained to the row before it by a hash.
create table identity.audit (
  bucket        smallint not null,
  account_id    uuid not null,
  environment   text not null,
  resource      uuid not null,
  sequence      int not null,
  id            uuid not null,
  resource_id   text not null,
  at            timestamptz not null,
  action        text not null,
  actor         jsonb not null,
  details       jsonb not null,
  previous_hash text,
  hash          text not null,
  primary key (bucket, account_id, environment, resource, sequence)
);

-- One row is what a person was asked to do before the camera, once.
create table identity.challenges (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  steps       text[] not null,
  expires_at  timestamptz not null,
  used_at     timestamptz,
  primary key (bucket, account_id, environment, id)
);

-- One row is a one-time code, which is derived from its id and stored nowhere.
create table identity.otps (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  id           uuid not null,
  phone_index  bytea not null,
  prefix_index bytea not null,
  ip_index     bytea,
  phone_sealed bytea not null,
  purpose      text not null,
  channel      text not null,
  code_length  smallint not null,
  status       text not null check (status in ('pending', 'verified', 'expired', 'failed', 'cancelled')),
  attempts     smallint not null default 0,
  sends        smallint not null,
  verification uuid,
  created_at   timestamptz not null,
  sent_at      timestamptz not null,
  expires_at   timestamptz not null,
  verified_at  timestamptz,
  primary key (bucket, account_id, environment, id)
);
create unique index otps_pending on identity.otps (bucket, account_id, environment, phone_index, purpose)
  where status = 'pending';
create index otps_phone on identity.otps (bucket, account_id, environment, phone_index, created_at);
create index otps_prefix on identity.otps (bucket, account_id, environment, prefix_index, created_at);
create index otps_ip on identity.otps (bucket, account_id, environment, ip_index, created_at) where ip_index is not null;
create index otps_old on identity.otps (bucket, created_at);

-- One row is a phone, device or address with which a user of the account was last seen.
create table identity.sightings (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  kind        text not null,
  key_index   bytea not null,
  user_index  bytea not null,
  seen_at     timestamptz not null,
  primary key (bucket, account_id, environment, kind, key_index, user_index)
);
create index sightings_old on identity.sightings (bucket, seen_at);

-- One row is how an account wants its identity checks decided, where it differs from the usual.
create table identity.policies (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  policy      jsonb not null,
  version     int not null,
  primary key (bucket, account_id, environment)
);
