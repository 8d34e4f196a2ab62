-- What belongs to a payment is found by the payment, whatever the planner knows of the tables. An index that begins as the
-- primary key does looks as good as the key for finding one row; one that has the payment alone looks worse than the key for
-- finding those of a payment. Either way all rows of the tenant are read. Begun by the payment and with all that statements
-- name, each index is the better one for its own question, and for no other.

drop index payments.attempts_of_payment;
create index attempts_of_payment on payments.attempts (payment_id, bucket, account_id, environment, id);

drop index payments.refunds_of_payment;
create index refunds_of_payment on payments.refunds (payment_id, bucket, account_id, environment, id);

drop index payments.disputes_of_payment;
create unique index disputes_of_payment on payments.disputes (payment_id, bucket, account_id, environment, provider_id);
