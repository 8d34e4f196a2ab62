-- The price list in pages, in the order of the bytes of its lines, so that the prices of a thing stand together.
create or replace function ledger.paged_prices(page_rows int) returns table (number int, rows int, lines text) language sql stable as $$
  select n.page::int, count(*)::int, string_agg(n.lines, E'\n' order by n.lines collate "C")
    from (select p.lines, (row_number() over (order by p.lines collate "C") - 1) / page_rows as page from ledger.prices p) n
   group by n.page
$$;
