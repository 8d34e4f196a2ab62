-- Money that accounts pay to others, alone and many at once.

-- One row is a payout, and all that was ever asked of a provider for it: its id is the provider's too. The money is held in
-- the transaction that makes the row. `status` is what customers see and moves by guarded updates only; whoever wins one settles the
-- hold and tells of it, in the same transaction. `state` is how far the request came: `planned`: nothing was sent; `sending`:
-- perhaps it was; `accepted`: the provider has it; `unknown`: it may have it; `final`: it is over. `missed_at` is when the
-- provider first said that it had never heard of it, `lost` that it said so again later; `refusal` what a call said that is
-- not confirmed. `overdue_at` is set when nobody is asked any more and a person has to find out. `sequence` counts what was told.
-- `phone` or `bank` says where to: `bank` is the account as the bank needs it. `risk` is what was found when it was judged, null until then; `in_review` that somebody has to let it go, while it is pending.
create table payments.payouts (
  bucket             smallint not null,
  account_id         uuid not null,
  environment        text not null,
  id                 uuid not null,
  batch_id           uuid,
  batch_index        int,
  status             text not null check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled', 'reversed')),
  method             text not null check (method in ('mobile_money', 'bank_transfer')),
  provider           text not null,
  country            text not null,
  amount             bigint not null check (amount > 0),
  currency           text not null,
  fee                bigint not null check (fee >= 0),
  phone              text,
  bank               jsonb,
  recipient          jsonb not null,
  description        text,
  reference          text,
  metadata           jsonb not null,
  callback_url       text,
  scheduled_at       timestamptz,
  in_review          boolean not null default false,
  risk               jsonb,
  state              text not null default 'planned' check (state in ('planned', 'sending', 'accepted', 'unknown', 'final')),
  token              bytea not null,
  queued             boolean not null,
  tries              smallint not null default 0,
  polls              smallint not null default 0,
  missed_at          timestamptz,
  lost               boolean not null default false,
  refusal            text,
  overdue_at         timestamptz,
  provider_reference text,
  failure_reason     text,
  sequence           int not null default 0,
  request_id         text,
  due_at             timestamptz not null,
  completed_at       timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  touched_at         timestamptz not null,
  primary key (bucket, account_id, environment, id),
  check (num_nonnulls(phone, bank) = 1)
);
create unique index payouts_reference on payments.payouts (bucket, account_id, environment, reference)
  where reference is not null;
create unique index payouts_of_batch on payments.payouts (bucket, account_id, environment, batch_id, batch_index)
  where batch_id is not null;
create index payouts_in_review on payments.payouts (bucket, account_id, environment, id) where in_review;
create index payouts_overdue on payments.payouts (bucket, id) where overdue_at is not null;
create index payouts_unqueued on payments.payouts (bucket, account_id, environment, batch_id, batch_index) where not queued;

-- One row is many payouts that were asked for at once and share one hold. `open_count` is how many are not over; the one that
-- makes it nought ends the batch.
create table payments.payout_batches (
  bucket          smallint not null,
  account_id      uuid not null,
  environment     text not null,
  id              uuid not null,
  status          text not null check (status in ('processing', 'completed', 'cancelled')),
  currency        text not null,
  total_count     int not null,
  accepted_count  int not null,
  completed_count int not null default 0,
  failed_count    int not null,
  cancelled_count int not null default 0,
  open_count      int not null check (open_count >= 0),
  total_amount    bigint not null,
  total_fee       bigint not null,
  reference       text,
  description     text,
  metadata        jsonb not null,
  callback_url    text,
  sequence        int not null default 0,
  request_id      text,
  completed_at    timestamptz,
  created_at      timestamptz not null,
  primary key (bucket, account_id, environment, id)
);
create unique index payout_batches_reference on payments.payout_batches (bucket, account_id, environment, reference)
  where reference is not null;

-- One row is an item of a batch that was not accepted, and why.
create table payments.payout_refusals (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  batch_id    uuid not null,
  batch_index int not null,
  code        text not null,
  details     text not null,
  primary key (bucket, account_id, environment, batch_id, batch_index)
);

-- Gives back a part of a hold: 'released', 'closed', 'exceeds' (more than is left) or 'missing'. It has no key of its own:
-- whoever calls it has won something in the same transaction that can be won once.
create function ledger.release_part(p_bucket smallint, p_account uuid, p_environment text, p_source uuid, p_step text,
                                    p_amount bigint)
  returns text language plpgsql as $$
declare
  held ledger.holds;
begin
  held := ledger.lock_hold(p_bucket, p_account, p_environment, p_source, p_step);
  if held.amount is null then return 'missing'; end if;
  if not held.open then return 'closed'; end if;
  if p_amount > held.amount - held.captured - held.released then return 'exceeds'; end if;
  update ledger.holds h set released = h.released + p_amount, open = h.captured + h.released + p_amount < h.amount
   where h.bucket = p_bucket and h.account_id = p_account and h.environment = p_environment
     and h.source_id = p_source and h.step = p_step;
  update ledger.wallets w set held = w.held - p_amount, updated_at = now()
   where w.bucket = p_bucket and w.account_id = p_account and w.environment = p_environment and w.currency = held.currency;
  return 'released';
end $$;
