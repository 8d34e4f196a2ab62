-- The sandbox of several nodes.

-- One row is the node whose simulators all nodes use, the one that has the lease `sandbox`, and how the others reach it. The
-- fingerprint is that of its certificate, which need not be one that they trust.
create table platform.sandbox (
  node        uuid primary key,
  host        text not null,
  url         text not null,
  fingerprint text not null,
  told_at     timestamptz not null default now()
);
comment on table platform.sandbox is 'Reference: one row is the node whose simulators all nodes use.';
