-- One row is a campaign: what is sent to whom, and how far it is. `job` is the job that runs it; another one that finds a new name
-- here leaves it alone. `cursor` is the last customer of the audience that became a recipient.
create table customers.campaigns (
  bucket       smallint not null,
  account_id   uuid not null,
  environment  text not null,
  id           uuid not null,
  name         text not null,
  segment_id   uuid,
  channels     text[] not null,
  content      jsonb not null,
  variants     jsonb not null default '[]',
  schedule     jsonb not null,
  quiet_hours  jsonb,
  rate         int,
  budget       bigint,
  currency     text not null,
  state        text not null check (state in ('draft', 'checking', 'scheduled', 'running', 'paused', 'completed', 'cancelled', 'stopped_budget')),
  reason       text,
  spent        bigint not null default 0,
  cursor       uuid,
  gathered     boolean not null default false,
  job          uuid,
  started_by   text,
  started_at   timestamptz,
  finished_at  timestamptz,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (bucket, account_id, environment, id),
  check (budget is null or spent <= budget)
);

-- One row is a customer of a campaign's audience, who gets it at most once.
create table customers.campaign_recipients (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  campaign_id uuid not null,
  customer_id uuid not null,
  state       text not null check (state in ('waiting', 'sent', 'left_out')),
  due_at      timestamptz not null,
  reason      text,
  channel     text,
  variant     smallint,
  address     text,
  message_id  uuid,
  cost        bigint not null default 0,
  sent_at     timestamptz,
  primary key (bucket, account_id, environment, campaign_id, customer_id)
);
create index campaign_recipients_due on customers.campaign_recipients (bucket, account_id, environment, campaign_id, due_at, customer_id)
  where state = 'waiting';
create index campaign_recipients_by_customer on customers.campaign_recipients (bucket, account_id, environment, customer_id);

-- One row is a batch of texts or a bulk of mail that a campaign sent.
create table customers.campaign_batches (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  campaign_id uuid not null,
  batch_id    uuid not null,
  channel     text not null,
  variant     smallint not null,
  primary key (bucket, account_id, environment, campaign_id, batch_id)
);
