-- SPDX-License-Identifier: Apache-2.0
-- Changes of the call centre, numbered: real-time metrics read what is new, and never a whole day again.
create sequence callcenter.changes;

alter table callcenter.agents
  add column changed      bigint not null default 0,
  -- Offers that could not be made since the last one that rang, and until when the agent is not offered another.
  add column missed_offers int not null default 0,
  add column offer_after  timestamptz;
alter table callcenter.contacts add column changed bigint not null default 0;
alter table callcenter.agent_states add column changed bigint not null default 0;

create index agents_changed on callcenter.agents (bucket, account_id, environment, changed);
create index contacts_changed on callcenter.contacts (bucket, account_id, environment, changed);
create index agent_states_changed on callcenter.agent_states (bucket, account_id, environment, changed);
create index agent_states_by_end on callcenter.agent_states (bucket, account_id, environment, ended_at);

create trigger number_change before insert or update on callcenter.agents
  for each row execute function callcenter.number_change();
create trigger number_insert before insert on callcenter.contacts
  for each row execute function callcenter.number_change();
-- What is counted of a contact does not change after its end.
create trigger number_update before update on callcenter.contacts
  for each row when (old.state <> 'ended') execute function callcenter.number_change();
create trigger number_change before insert or update on callcenter.agent_states
  for each row execute function callcenter.number_change();
