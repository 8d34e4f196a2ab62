-- SPDX-License-Identifier: Apache-2.0
-- Changes of the price list in the order of their commits, so that a node reads what changed and not the list.

create sequence ledger.price_revisions;
alter table ledger.prices add column revision bigint not null default nextval('ledger.price_revisions');
create unique index prices_in_order on ledger.prices (revision);

-- One row is a price that was taken off the list in the last days.
create table ledger.removed_prices (
  revision       bigint primary key,
  area           text not null,
  unit           text not null,
  country        text not null,
  network        text not null,
  account_id     uuid,
  currency       text not null,
  effective_from timestamptz not null,
  removed_at     timestamptz not null default now()
);
comment on table ledger.removed_prices is 'Reference: one row is a price that was taken off the list in the last days';

create trigger prices_in_turn before insert or update or delete on ledger.prices
  for each statement execute function ledger.note_price();
create trigger prices_noted before insert or update or delete on ledger.prices
  for each row execute function ledger.note_price();
