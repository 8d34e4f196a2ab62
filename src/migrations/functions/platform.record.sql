-- Writes entries of the audit log.
create or replace function platform.record(items platform.audit_item[]) returns void language plpgsql as $$
begin
  insert into platform.audit (bucket, account_id, environment, id, actor, action, target, before, after, ip, request_id)
  select i.bucket, i.account_id, i.environment, i.id, i.actor, i.action, i.target, i.before, i.after, i.ip, i.request_id
    from unnest(items) i;
end $$;
