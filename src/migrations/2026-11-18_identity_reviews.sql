-- Decisions of people are counted by when they were made.
create index verifications_reviewed on identity.verifications
  (bucket, account_id, environment, ((outcome -> 'review') ->> 'at')) where (outcome -> 'review') ->> 'at' is not null;
