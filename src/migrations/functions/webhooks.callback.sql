-- A callback as its job has it.
create or replace function webhooks.callback(event uuid, name text, resource text, url text, created_at timestamptz, attempts smallint,
                                  next_at timestamptz) returns jsonb language sql stable as $$
  select jsonb_build_object('event', event, 'name', name, 'resource', resource, 'url', url,
                            'created_ms', floor(extract(epoch from created_at) * 1000)::bigint, 'attempts', attempts,
                            'next_ms', floor(extract(epoch from next_at) * 1000)::bigint)
$$;
