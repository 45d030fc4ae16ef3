select s.subscriber_id, s.account_number, s.balance_minor = @amount and s.currency = @currency as owes,
  (select count(*) from {schema}.terms t
    where t.org_id = @org and t.subscriber_id = s.subscriber_id and t.term = any(@words::text[]))::int as words
from {schema}.subscribers s
where s.org_id = @org and s.subscriber_id = any(@who::uuid[]) and s.status <> 'forgotten'
