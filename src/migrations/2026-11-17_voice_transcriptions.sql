-- SPDX-License-Identifier: Apache-2.0
-- Recordings that are written down: in which language, what came of it, and the file of the text.

alter table voice.recordings
  add column transcription_language   text,
  add column transcription_file       uuid,
  add column transcription_confidence double precision,
  add column transcription_error      text;
