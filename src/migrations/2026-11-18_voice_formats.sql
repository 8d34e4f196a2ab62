-- SPDX-License-Identifier: Apache-2.0
-- Recordings as MP3: their format, and the file of plain samples that they are made from, which stays until it is stored as MP3
-- and written down.

alter table voice.recordings
  add column format      text not null default 'wav' check (format in ('wav', 'mp3')),
  add column source_file uuid;
