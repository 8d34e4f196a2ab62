-- Cancels what has not left yet, of a message or of a bulk, and gives the price back with the transfer. Gives the recipients that it
-- cancelled; one whose job is being run stays.
create or replace function email.cancel(p_bucket smallint, p_account uuid, p_environment text, p_message uuid, p_bulk uuid, p_transfer uuid)
  returns table (message_id uuid, number smallint, email text) language plpgsql as $$
declare
  ids     uuid[];
  numbers smallint[];
  emails  text[];
  jobs    uuid[];
  price   bigint;
  money   text;
begin
  select array_agg(c.message_id), array_agg(c.number), array_agg(c.email), array_agg(c.job), sum(c.unit_price), max(c.currency)
    into ids, numbers, emails, jobs, price, money
    from (select r.message_id, r.number, r.email, r.job, m.unit_price, m.currency
            from email.messages m
            join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment
                                   and r.message_id = m.id
           where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment
             and (m.id = p_message or (p_bulk is not null and m.bulk_id = p_bulk)) and r.status in ('scheduled', 'queued')
             and not exists (select from work.jobs j where j.bucket = p_bucket and j.id = r.job and j.owner is not null)
             for update of r) c;
  if ids is null then return; end if;
  delete from work.jobs j where j.bucket = p_bucket and j.id = any(jobs);
  update email.recipients r set status = 'cancelled', job = null from unnest(ids, numbers) as c(id, n)
   where r.bucket = p_bucket and r.account_id = p_account and r.environment = p_environment and r.message_id = c.id and r.number = c.n;
  update email.messages m
     set status = (select s.status from email.recipients s where s.bucket = p_bucket and s.account_id = p_account
                      and s.environment = p_environment and s.message_id = m.id order by email.rank(s.status) limit 1),
         cost = greatest(0, m.cost - m.unit_price * c.many)
    from (select d.id, count(*) as many from unnest(ids) d(id) group by 1) c
   where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = c.id;
  if price > 0 then
    perform ledger.post(p_bucket, p_account, p_environment, coalesce(p_message, p_bulk), 'refund:cancelled',
                        array[row(p_transfer, 'revenue:email', 'wallet', price, money)::ledger.leg], null, 'Email cancelled');
  end if;
  return query select * from unnest(ids, numbers, emails);
end $$;
