-- What customers are told of their wallets, and how these are filled. The money itself is in the ledger.

create schema if not exists wallet;

-- One row is what an account was told of the wallet of one currency: `low` when it knows that the wallet fell below its
-- threshold and has not heard otherwise, `sequence` how many events there were.
create table wallet.told (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  currency    text not null,
  low         boolean not null,
  sequence    int not null,
  primary key (bucket, account_id, environment, currency)
);

-- One row is how a wallet is filled by itself: when less than `threshold` is there, `amount` is asked of `phone` or
-- charged to the saved card `card_token`. `payment_id` is the top-up under way, at most one, and `asked_of` of whom it was
-- asked: a failure of what was replaced meanwhile says nothing of what is there now. `failures` counts those that failed one
-- after the other, `failed` names them, oldest first (null is one that could not be asked for): any of them may be paid after
-- its time, and then it has not failed. `day_count` and `day_amount` are what was asked for on `day`.
create table wallet.auto_recharges (
  bucket           smallint not null,
  account_id       uuid not null,
  environment      text not null,
  currency         text not null,
  enabled          boolean not null,
  threshold        bigint not null check (threshold > 0),
  amount           bigint not null check (amount > 0),
  phone            text,
  card_token       uuid,
  provider         text,
  max_per_day      smallint not null,
  daily_limit      bigint,
  payment_id       uuid,
  failures         int not null default 0,
  paused           boolean not null default false,
  last_recharge_at timestamptz,
  day              date,
  day_count        int not null default 0,
  day_amount       bigint not null default 0,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  asked_of         text,
  failed           uuid[] not null default '{}',
  primary key (bucket, account_id, environment, currency),
  constraint asked_of_one check ((phone is null) <> (card_token is null))
);
create index auto_recharges_ready on wallet.auto_recharges (bucket, account_id)
  where enabled and not paused and payment_id is null;
