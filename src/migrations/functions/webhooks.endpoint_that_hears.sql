-- An endpoint of an account that is enabled and subscribed to any of these names; null when there is none.
create or replace function webhooks.endpoint_that_hears(p_bucket smallint, p_account uuid, p_environment text, p_names text[]) returns uuid
  language sql stable as $$
  select e.id from webhooks.endpoints e
   where e.bucket = p_bucket and e.account_id = p_account and e.environment = p_environment and e.enabled and e.events && p_names limit 1
$$;
