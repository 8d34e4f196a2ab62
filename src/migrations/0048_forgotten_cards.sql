-- Whoever forgets a saved card finds the payment that saved it, so that the payment does not save it again.
create index cards_saved on payments.cards (bucket, account_id, environment, saved_token) where saved_token is not null;
