-- SPDX-License-Identifier: Apache-2.0
-- Quota of hooks: bytes that are kept, of a request and of all requests of a hook.
alter table sandbox.hook_requests add column bytes int not null default 0;
alter table sandbox.hooks add column kept_bytes bigint not null default 0;
