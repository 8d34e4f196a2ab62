-- SPDX-License-Identifier: Apache-2.0
-- Which trunk carries a call, what it shows, and whether its audio is encrypted.

-- `srtp` says whether audio is encrypted: never, where the network can, or always. Of trunks with the same prefix and priority the
-- one whose `costs` ([{"prefix": "+2547", "minute": 1.2}]) are lowest comes first, then one by lot, by `weight`. `caller_ids` are
-- the first digits of numbers that the network lets us show (empty: all), `caller_id` is shown instead of another one; null passes
-- the trunk over. `follows_redirects`: a 302 to an address of the trunk itself is followed.
alter table voice.trunks
  add column srtp              text not null default 'off' check (srtp in ('off', 'optional', 'required')),
  add column weight            int not null default 1,
  add column costs             jsonb not null default '[]',
  add column caller_ids        text[] not null default '{}',
  add column caller_id         text,
  add column follows_redirects boolean not null default false;
