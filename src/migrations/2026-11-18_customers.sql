create schema if not exists customers;

-- One row is a customer of an account: whoever it bills, writes to, is written to by, or is paid by. `phones` and `emails` are
-- theirs alone, the main one first; `phone` and `email` are what invoices go to, which is the main one unless that belongs to
-- somebody else. A customer that was merged into another has `merged_into` and nothing that would find it but its id.
alter table billing.customers set schema customers;
alter table customers.customers
  add column external_id   text,
  add column language      text,
  add column country       text,
  add column timezone      text,
  add column phones        text[] not null default '{}',
  add column emails        text[] not null default '{}',
  add column attributes    jsonb not null default '{}',
  add column tags          text[] not null default '{}',
  add column first_seen_at timestamptz,
  add column last_seen_at  timestamptz,
  add column merged_into   uuid;

-- One row is a phone number, an email address in lower case or an external id, and whose it is.
create table customers.addresses (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  kind        text not null check (kind in ('external', 'phone', 'email')),
  address     text not null,
  customer_id uuid not null,
  primary key (bucket, account_id, environment, kind, address)
);
create index addresses_by_beginning on customers.addresses (bucket, account_id, environment, address text_pattern_ops);

-- What several had before belongs to the first of them.
insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
select bucket, account_id, environment, 'email', lower(email), id from customers.customers where email is not null order by id
on conflict do nothing;
insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
select bucket, account_id, environment, 'phone', phone, id from customers.customers where phone is not null order by id
on conflict do nothing;
update customers.customers c
   set phones = array(select a.address from customers.addresses a
                       where a.bucket = c.bucket and a.account_id = c.account_id and a.environment = c.environment
                         and a.kind = 'phone' and a.address = c.phone and a.customer_id = c.id),
       emails = array(select a.address from customers.addresses a
                       where a.bucket = c.bucket and a.account_id = c.account_id and a.environment = c.environment
                         and a.kind = 'email' and a.address = lower(c.email) and a.customer_id = c.id);

-- `contact` told customers apart until now.
alter table customers.customers drop column contact;

create index customers_seen on customers.customers (bucket, account_id, environment, last_seen_at);
create index customers_tags on customers.customers using gin (tags);
create index customers_names on customers.customers using gin (to_tsvector('simple', name));

-- One row is an attribute that an account uses, of the type that its first value had.
create table customers.attributes (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  name        text not null,
  type        text not null check (type in ('text', 'number', 'boolean', 'date')),
  primary key (bucket, account_id, environment, name)
);

-- One row is a consent that was given to a channel which keeps no list of those. Withdrawals are in the lists of the channels.
create table customers.grants (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  channel     text not null check (channel in ('sms', 'email')),
  address     text not null,
  purpose     text not null check (purpose in ('marketing', 'service')),
  source      text,
  granted_at  timestamptz not null,
  primary key (bucket, account_id, environment, channel, address, purpose)
);

-- One row is a note that a member or a program wrote about a customer.
create table customers.notes (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  customer_id uuid not null,
  id          uuid not null,
  author      text not null,
  body        text not null,
  created_at  timestamptz not null,
  primary key (bucket, account_id, environment, customer_id, id)
);
