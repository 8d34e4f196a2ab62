-- SPDX-License-Identifier: Apache-2.0
-- Numbers as a trunk writes them, event bodies as they were sent, and what another node needs to end a call whose node died.

-- `number_format` is how numbers are written to the network: e164 (+254711000001), digits (254711000001), international
-- (00254711000001) or national (0711000001; numbers of other countries international). `country` is that of national numbers;
-- null takes the one of its prefixes.
alter table voice.trunks
  add column number_format text not null default 'e164' check (number_format in ('e164', 'digits', 'international', 'national')),
  add column country       text;

-- Bodies of event_url requests are signed: their text stays as it was written.
alter table voice.call_events alter column data type json using data::json;

-- SIP dialog of an answered call, from which another node can end it; null where the audio is no SIP call's.
alter table voice.calls add column dialog json;
