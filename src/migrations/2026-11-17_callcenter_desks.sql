-- SPDX-License-Identifier: Apache-2.0
-- Agents at a desk in a browser: which connection speaks for them, and since when the last one is lost.
alter table callcenter.agents
  add column desk_id      uuid,
  add column desk_lost_at timestamptz;
