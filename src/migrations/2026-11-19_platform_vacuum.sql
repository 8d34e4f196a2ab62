-- SPDX-License-Identifier: Apache-2.0
-- Partitions whose rows are final are vacuumed in small portions and frozen at once; later ones are as the default partition.
select platform.freeze_soon(inhrelid) from pg_inherits
 where inhparent = any(array(select to_regclass(name)::oid from unnest(array[
   'ledger.transfers', 'platform.audit', 'platform.requests', 'platform.frames', 'events.events', 'webhooks.failures',
   'payments.risk_checks', 'email.contents']) name))
   and inhrelid in (select oid from pg_class where relkind = 'r');
