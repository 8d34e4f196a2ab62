-- The keys that a domain had before they were rotated. They sign until the new ones are found in the DNS, and stay published
-- for a week, so that mail on its way can be verified.

alter table email.domains add column previous jsonb, add column previous_keys bytea;
comment on column email.domains.previous is 'selector, public_keys and until; null where nothing was rotated of late';
