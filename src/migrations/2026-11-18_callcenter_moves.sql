-- SPDX-License-Identifier: Apache-2.0
-- Callers who are moved to another node because theirs stops.

-- A wait that ended so: whoever comes with the same numbers soon after goes on waiting in the same queue, without its menu.
alter table callcenter.contacts add column is_moved boolean not null default false;
