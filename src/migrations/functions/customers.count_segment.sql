-- Counts customers of a segment, up to a limit; only those in the first slices of 1,024, when slices are given.
create or replace function customers.count_segment(p_bucket smallint, p_account uuid, p_environment text, p_filter jsonb, p_segment uuid,
  p_at timestamptz, p_slices int, p_most int) returns int language plpgsql stable as $$
declare
  counted int;
begin
  execute format('select count(*)::int from (select 1 %s %s limit %s) found', customers.segment_where(p_filter, p_segment),
      case when p_slices is null then '' else format('and (uuid_hash(c.id) & 1023) < %s', p_slices) end, p_most)
    into counted using p_bucket, p_account, p_environment, p_at;
  return counted;
end $$;
