-- The top-ups that `failures` counts, oldest first; null is one that could not be asked for. Any of them may be paid after its
-- time: then it has not failed, and what failed before it is no longer in a row with what failed since.
alter table wallet.auto_recharges add column failed uuid[] not null default '{}';
