-- SPDX-License-Identifier: Apache-2.0
-- Channels and states of consents are checked of every row. In a transaction of its own: consents are written while it reads them.

alter table customers.grants validate constraint grants_channel_known_check;
alter table customers.grants validate constraint grants_state_check;
