-- SPDX-License-Identifier: Apache-2.0
-- Campaigns that a second person starts, entries of a list that name somebody twice, and consents of calls.

-- `asked_by` asked for the start of a draft, at `asked_at`; another person starts it. `duplicates` are entries of its list that named
-- somebody again.
alter table customers.campaigns
  add column asked_by text,
  add column asked_at timestamptz,
  add column duplicates int not null default 0;

-- Whether somebody was reached at an address, which may belong to another customer by now.
create index campaign_recipients_reached on customers.campaign_recipients (bucket, account_id, environment, campaign_id, address)
  where address is not null;

-- No other list tells of consents of calls: what is granted and what is withdrawn are both here.
alter table customers.grants
  add column state text not null default 'granted',
  drop constraint grants_channel_check,
  add constraint grants_channel_known_check check (channel in ('sms', 'email', 'voice')) not valid,
  add constraint grants_state_check check (state = 'granted' or (state = 'withdrawn' and channel = 'voice')) not valid;
