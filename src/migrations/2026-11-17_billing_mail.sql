-- Invoices that were mailed: where they went, and where the receipt goes once they are paid.

alter table billing.invoices add column mailed_to text;
