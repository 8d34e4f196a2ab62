-- The step under which the n-th charge of a message stands in the ledger.
create or replace function sms.charge_step(charges smallint) returns text language sql immutable as $$
  select case when charges = 1 then 'charge' else 'charge:' || charges end
$$;
