-- Events with an object that is sealed, and wiped a day later (areas/events/retention.ts): few, so an index of their own.
create index events_with_data on events.events (id)
  where strpos(body, '"data":{}') = 0 and type in ('ussd.response', 'ussd.session_ended', 'ussd.session_started');
