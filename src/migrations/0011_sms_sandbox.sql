-- The network that test messages meet.

-- One row is how the sandbox's network treats the messages of an account: how late, with what error, and which handsets it
-- does not reach (`*` is all of them).
create table sms.sandbox_behaviours (
  bucket          smallint not null,
  account_id      uuid not null,
  delay_ms        int,
  error           text,
  out_of_coverage text[] not null,
  primary key (bucket, account_id)
);
