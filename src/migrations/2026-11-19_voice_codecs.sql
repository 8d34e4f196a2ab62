-- SPDX-License-Identifier: Apache-2.0
-- Audio codecs of a trunk, the best first.

alter table voice.trunks
  add column codecs text[] not null default '{PCMU,PCMA,G722}'
    check (cardinality(codecs) > 0 and codecs <@ '{PCMU,PCMA,G722,opus}'::text[]);
