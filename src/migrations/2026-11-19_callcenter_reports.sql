-- SPDX-License-Identifier: Apache-2.0
-- Calls that reports count once, however many contacts they have.

alter table callcenter.contacts
  -- How far earlier contacts of the call counted it already: of the whole account, and of the queue of this contact.
  add column call_counted  text not null default 'no',
  add column queue_counted text not null default 'no',
  -- A wait that goes on in the contact of another call: its caller was moved to another node, or called again and got the place back.
  add column is_continued  boolean not null default false,
  -- Validated by the next migration, which reads the table without keeping calls waiting.
  add constraint contacts_call_counted_check check (call_counted in ('no', 'offered', 'answered')) not valid,
  add constraint contacts_queue_counted_check check (queue_counted in ('no', 'offered', 'answered')) not valid;

drop trigger number_update on callcenter.contacts;
-- What is counted of a contact does not change after its end, but for a wait that goes on elsewhere.
create trigger number_update before update on callcenter.contacts
  for each row when (old.state <> 'ended' or old.is_continued <> new.is_continued)
  execute function callcenter.number_change();
