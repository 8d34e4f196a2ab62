-- Adds durations of attempts, as webhooks.hours counts them, slot by slot.
create or replace function webhooks.add_durations(counts int[], more int[]) returns int[] language plpgsql immutable as $$
begin
  for slot in 1 .. cardinality(more) loop
    if more[slot] > 0 then counts[slot] := counts[slot] + more[slot]; end if;
  end loop;
  return counts;
end $$;
