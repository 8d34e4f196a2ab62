-- When the network took the first screen of a session that an application began. Null: it has not, as far as is known; such a
-- session costs nothing when its time is over, and a node that takes its gateway over shows the screen.
alter table ussd.sessions add column shown_at timestamptz;
