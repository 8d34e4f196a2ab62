-- SPDX-License-Identifier: Apache-2.0
-- What an agent noted of a call while it ran, which the end of the call tells.
alter table voice.calls add column disposition text;
