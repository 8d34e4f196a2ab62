-- The job of a callback no longer repeats what its event says.
drop function if exists webhooks.callback(uuid, text, text, text, timestamptz, smallint, timestamptz);
