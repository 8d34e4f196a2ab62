-- SPDX-License-Identifier: Apache-2.0
-- Keys for programs of another provider, whose callbacks are signed with the key itself.

alter table accounts.api_keys
  add column door text,
  add column sealed_key bytea,
  add constraint api_keys_door_is_sealed check ((door is null) = (sealed_key is null));
comment on column accounts.api_keys.door is 'Door that it was made for, such as twilio; null of a key of the own API';
comment on column accounts.api_keys.sealed_key is 'Key itself, encrypted, of a key for a door: it signs callbacks';
create index api_keys_of_door on accounts.api_keys (account_id, environment, door, id) where door is not null;
