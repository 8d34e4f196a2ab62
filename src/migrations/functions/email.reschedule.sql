-- Moves a scheduled message to another time; gives whether it still waited.
create or replace function email.reschedule(p_bucket smallint, p_account uuid, p_environment text, p_message uuid, p_at timestamptz, p_delay_ms bigint)
  returns boolean language plpgsql as $$
declare
  moved int;
begin
  update work.jobs j set run_at = now() + p_delay_ms * interval '1 millisecond'
    from email.recipients r
   where r.bucket = p_bucket and r.account_id = p_account and r.environment = p_environment and r.message_id = p_message and r.status = 'scheduled'
     and j.bucket = p_bucket and j.id = r.job and j.owner is null;
  get diagnostics moved = row_count;
  if moved > 0 then
    update email.messages m set scheduled_at = p_at, expires_at = m.expires_at + (p_at - m.scheduled_at)
     where m.bucket = p_bucket and m.account_id = p_account and m.environment = p_environment and m.id = p_message;
  end if;
  return moved > 0;
end $$;
