-- What customers are told of their wallets. The money itself is in the ledger.

create schema wallet;

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
