-- What the screen shines while the frames of a challenge are taken, and since when it may be answered.
alter table identity.challenges add column lights text[], add column made_at timestamptz;
