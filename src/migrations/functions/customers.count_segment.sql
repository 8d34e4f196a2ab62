-- Counts customers of a segment, up to a limit; only those in some slices of 1,024, from one to before another, when slices are given. Those
-- of slices are read before anything is asked of them: an index of a condition would find those of all slices.
create or replace function customers.count_segment(p_bucket smallint, p_account uuid, p_environment text, p_filter jsonb, p_segment uuid,
  p_at timestamptz, p_from int, p_to int, p_most int) returns int language plpgsql stable as $$
declare
  few     uuid[];
  counted int;
begin
  if p_to is null then few := customers.few(p_bucket, p_account, p_environment, p_filter, p_segment, p_at, 11000); end if;
  execute format('select count(*)::int from (select 1 from %s c where %s limit %s) found',
      customers.segment_people(
        case when p_to is not null then format('(uuid_hash(c.id) & 1023) >= %s and (uuid_hash(c.id) & 1023) < %s', p_from, p_to)
             when few is not null then 'c.id = any($5)' else 'true' end,
        case when p_to is not null or few is not null then 'offset 0' else '' end),
      customers.segment_condition(p_filter, p_segment), p_most)
    into counted using p_bucket, p_account, p_environment, p_at, few;
  return counted;
end $$;
