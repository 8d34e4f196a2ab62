-- SPDX-License-Identifier: Apache-2.0
-- Pages of the price list as nodes keep them (src/ledger/price-list.ts), so that a start reads one row for 500 prices. What changed
-- after `revision`, which is the same in all pages, is read as changes. Not compressed: each is read at every start.

-- One row is a page of the price list as it was at a revision.
create table ledger.price_pages (
  number   int primary key,
  revision bigint not null,
  rows     int not null,
  lines    text not null
);
alter table ledger.price_pages alter column lines set storage external;
comment on table ledger.price_pages is 'Reference: one row is a page of the price list as it was at a revision';
