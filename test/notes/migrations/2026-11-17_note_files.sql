-- Files of notes, for the route kinds that files come and go by.

-- One row is a file that somebody sent; its bytes are in the home of the installation.
create table notes.files (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  name        text,
  type        text not null,
  title       text not null,
  size        bigint not null,
  sha256      text not null,
  primary key (bucket, account_id, environment, id)
);
