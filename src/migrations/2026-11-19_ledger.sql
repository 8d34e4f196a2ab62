-- A price as a node keeps it (src/ledger/price-list.ts), written once, when it is set, and not at each start of each node. A
-- line break in the name of a network, which none has, would be taken for the end of a line.
alter table ledger.prices add column lines text not null generated always as (
  area || E'\t' || unit || E'\t' || currency || E'\t' || coalesce(account_id::text, '') || E'\t' || country || E'\t' ||
  replace(network, E'\n', ' ') || E'\n' ||
  date_part('epoch', effective_from at time zone 'UTC')::text || E'\t' || amount::text) stored;
