-- SPDX-License-Identifier: Apache-2.0
-- What is missing from the audit of identity checks is noticed: each chain has a head with the number of its entries and the
-- hash of the last, and heads are chained among themselves in books, sixteen for each account and environment. Both are sealed
-- with a key that is not in the database.

-- One row is the head of a chain. `number` is its place in its book, `opened` follows from the one before it there. A head
-- from before has neither until a node seals it.
create table identity.audit_heads (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  resource    uuid not null,
  resource_id text not null,
  book        smallint not null,
  number      int not null,
  opened      text not null,
  entries     int not null,
  last_hash   text not null,
  seal        text not null,
  primary key (bucket, account_id, environment, resource)
);
create index audit_heads_of_book on identity.audit_heads (bucket, account_id, environment, book, number, resource);
create index audit_heads_unsealed on identity.audit_heads (bucket) where seal = '';

-- One row says how many chains a book has, and how the last of them was opened.
create table identity.audit_books (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  book        smallint not null,
  chains      int not null,
  last_opened text not null,
  seal        text not null,
  primary key (bucket, account_id, environment, book)
);

insert into identity.audit_heads (bucket, account_id, environment, resource, resource_id, book, number, opened, entries,
                                  last_hash, seal)
select a.bucket, a.account_id, a.environment, a.resource, min(a.resource_id),
       ('x0' || right(a.resource::text, 1))::bit(8)::int, 0, '', count(*),
       (array_agg(a.hash order by a.sequence desc))[1], ''
  from identity.audit a
 group by a.bucket, a.account_id, a.environment, a.resource;
