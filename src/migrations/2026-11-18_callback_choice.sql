-- SPDX-License-Identifier: Apache-2.0
-- Callbacks of the outcome only: wished for by a request, else by its key, else by its account (settings.callback_events).

alter table accounts.api_keys add column callback_events text check (callback_events in ('all', 'final'));
alter table sms.messages add column callback_final boolean not null default false;
