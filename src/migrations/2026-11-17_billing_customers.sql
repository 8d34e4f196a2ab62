-- What a tax invoice says of whom it is for.
alter table billing.customers add column tax_number text, add column address text;
