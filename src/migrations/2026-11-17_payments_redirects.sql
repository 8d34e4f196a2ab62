-- A payer who is sent to a page, whoever has it: where that is and where the account wants the payer afterwards are details
-- of the payment. kept is what the provider's answer gave that it wants to hear again, or that proves that a call is its own;
-- it is sealed. decided_at is when somebody pressed a button of the page that stands for a provider in the sandbox.
alter table payments.attempts add column kept bytea, add column decided_at timestamptz;

update payments.payments p
   set details = p.details || jsonb_strip_nulls(jsonb_build_object('page_url', c.challenge_url, 'return_url', c.return_url))
  from payments.cards c
 where c.bucket = p.bucket and c.account_id = p.account_id and c.environment = p.environment and c.payment_id = p.id
   and coalesce(c.challenge_url, c.return_url) is not null;

alter table payments.cards drop column return_url, drop column challenge_url, drop column decided_at;
