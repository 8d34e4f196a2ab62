-- Whether events of a type tell of a person who wrote, called, dialled or paid.
create or replace function customers.hears(type text) returns boolean language plpgsql immutable as $$
begin
  return type in ('sms.received', 'messenger.message', 'call.started', 'ussd.session_started', 'payment.completed');
end $$;
