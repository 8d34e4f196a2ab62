-- Stores the messages of a bulk, one for each recipient, and charges for all of them at once. Gives what the ledger said.
create or replace function email.accept_bulk(p_bucket smallint, p_account uuid, p_environment text, p_bulk uuid, p_common jsonb, p_entries jsonb,
    p_amount bigint, p_currency text, p_transfer uuid) returns text language plpgsql as $$
declare
  verdict text := (ledger.charge(array[row(p_bucket, p_account, p_environment, p_currency, p_amount, p_bulk, 'charge', p_transfer,
                                           'revenue:email')::ledger.charge_item]))[1];
  common record;
begin
  if verdict = 'insufficient' then return verdict; end if;
  select * into common from jsonb_to_record(p_common)
    as c(status text, sender text, domain text, subject text, template text, track_opens boolean, track_clicks boolean, callback_url text,
         request text, size int, unit_price bigint, scheduled_at timestamptz, expires_at timestamptz, created_at timestamptz);
  insert into email.messages (bucket, account_id, environment, id, status, sender, domain, subject, stream, source, content_id, template, bulk_id,
    bulk_index, variables, tags, metadata, track_opens, track_clicks, callback_url, request_id, recipients, size, unit_price, cost, currency,
    scheduled_at, expires_at, created_at)
  select p_bucket, p_account, p_environment, e.id, common.status, common.sender, common.domain, common.subject, 'bulk', 'api', p_bulk, common.template,
         p_bulk, e.n, e.variables, array(select jsonb_array_elements_text(e.tags)), e.metadata, common.track_opens, common.track_clicks,
         common.callback_url, common.request, 1, common.size, common.unit_price, common.unit_price, p_currency, common.scheduled_at,
         common.expires_at, common.created_at
    from jsonb_to_recordset(p_entries) as e(id uuid, n int, variables jsonb, tags jsonb, metadata text);
  insert into email.recipients (bucket, account_id, environment, message_id, number, email, name, type, status)
  select p_bucket, p_account, p_environment, e.id, 0, e.email, e.name, 'to', common.status
    from jsonb_to_recordset(p_entries) as e(id uuid, email text, name text);
  return verdict;
end $$;
