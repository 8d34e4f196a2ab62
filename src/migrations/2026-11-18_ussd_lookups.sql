-- Indexes of sessions begin with what they are looked up by. While both began with the tenant, as the primary key does, the
-- planner saw no difference between the three in a small table, and the plans that it then kept read all sessions of the
-- account to find one.
drop index ussd.sessions_by_name;
drop index ussd.sessions_of_phone;
create unique index sessions_by_name on ussd.sessions (session_id, bucket, account_id, environment);
create index sessions_of_phone on ussd.sessions (phone, bucket, account_id, environment, shortcode, id);
