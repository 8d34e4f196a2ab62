-- SPDX-License-Identifier: Apache-2.0
-- Numbers that something else than an application answers: a queue, an IVR, an agent, or the routing rules.
alter table voice.numbers add column target jsonb;
