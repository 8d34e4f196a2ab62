-- Gives each change of a price a revision. Whoever changes prices does so in turn, from the statement to the commit, so
-- revisions become visible in their order and a reader who has seen one has seen all before it.
create or replace function ledger.note_price() returns trigger language plpgsql as $$
begin
  if tg_level = 'STATEMENT' then
    perform pg_advisory_xact_lock(hashtextextended('ledger.prices', 0));
    return null;
  end if;
  if tg_op = 'DELETE' then
    insert into ledger.removed_prices (revision, area, unit, country, network, account_id, currency, effective_from)
    values (nextval('ledger.price_revisions'), old.area, old.unit, old.country, old.network, old.account_id, old.currency,
            old.effective_from);
    return old;
  end if;
  new.revision := nextval('ledger.price_revisions');
  return new;
end $$;
