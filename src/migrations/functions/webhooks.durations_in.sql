-- Durations of attempts, as webhooks.hours counts them, from the slots they fall into. Null stands for an attempt that is
-- not counted.
create or replace function webhooks.durations_in(slots smallint[]) returns int[] language plpgsql immutable as $$
declare
  counts int[] := array_fill(0, array[20]);
  slot   smallint;
begin
  foreach slot in array slots loop
    if slot is not null then counts[slot + 1] := counts[slot + 1] + 1; end if;
  end loop;
  return counts;
end $$;
