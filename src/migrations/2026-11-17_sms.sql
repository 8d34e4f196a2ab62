-- A change of status and its two events are columns of the commits that make it; what they were handed over in is of no use.
drop function if exists sms.tell(sms.change[]);
drop type if exists sms.change;
