-- Keeps the price list in pages, made anew where enough of it has changed, and forgets removed prices that every node has read of.
-- What was removed is forgotten one round after there are pages without it: a node may still be reading the ones before.
create or replace function ledger.pack_prices(page_rows int, enough int, removed_days int) returns void language plpgsql as $$
declare
  packed bigint;
  newest bigint;
begin
  lock table ledger.price_pages in share row exclusive mode;
  packed := (select max(p.revision) from ledger.price_pages p);
  -- Read first: what changes before the list is read is in the pages, and taken over once more as a change.
  newest := greatest((select max(p.revision) from ledger.prices p), (select max(r.revision) from ledger.removed_prices r), 0);
  if newest - coalesce(packed, 0) >= enough or exists (
       select from ledger.removed_prices r
        where r.revision > packed and r.removed_at < now() - removed_days * interval '1 day') then
    delete from ledger.price_pages;
    insert into ledger.price_pages (number, revision, rows, lines)
    select p.number, newest, p.rows, p.lines from ledger.paged_prices(page_rows) p;
  end if;
  delete from ledger.removed_prices r
   where r.removed_at < now() - removed_days * interval '1 day' and r.revision <= coalesce(packed, 0);
end $$;
