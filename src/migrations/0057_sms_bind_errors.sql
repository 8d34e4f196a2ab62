-- Why a bind cannot be used is known to the node that has it open; operators ask any of them. last_error is what that node
-- last said, as is_up is.
alter table sms.binds add column last_error text;
