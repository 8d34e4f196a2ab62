-- SPDX-License-Identifier: Apache-2.0
-- Calls in rooms with others: who has them, how long they were held; recordings of conferences.

alter table voice.calls
  add column agent_id      text,
  add column queue_id      text,
  add column ivr_id        text,
  add column conference_id text,
  add column held_seconds  int not null default 0;

alter table voice.recordings
  alter column call_id drop not null,
  add column conference_id uuid,
  drop constraint recordings_status_check,
  add constraint recordings_status_check check (status in ('recording', 'processing', 'ready', 'failed', 'deleted'));
create index recordings_by_id on voice.recordings (bucket, id);
create index recordings_past on voice.recordings (bucket, expires_at) where status = 'ready';
create index recordings_under_way on voice.recordings (bucket, account_id, environment, id) where status in ('recording', 'processing');
