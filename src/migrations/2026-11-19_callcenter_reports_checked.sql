-- SPDX-License-Identifier: Apache-2.0
-- How far a call was counted is checked of every row. In a transaction of its own: contacts are written while it reads them.

alter table callcenter.contacts validate constraint contacts_call_counted_check;
alter table callcenter.contacts validate constraint contacts_queue_counted_check;
