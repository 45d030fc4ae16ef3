with near as (
  select 1 as rank, 'invoice_number' as by, i.subscriber_id from {schema}.invoices i
  where i.org_id = @org::uuid and i.number_key = any(@numbers::text[])
  union all
  select 2, 'payer_phone', p.subscriber_id from {schema}.payers p where p.org_id = @org::uuid and p.phone = nullif(@payer::text, '')
  union all
  select 3, 'phone', p.subscriber_id from {schema}.payers p where p.org_id = @org::uuid and p.phone = nullif(@phone::text, '')
  union all
  select 4, 'account_number', p.subscriber_id from {schema}.payers p
  where p.org_id = @org::uuid and length(@account::text) = 8 and starts_with(p.account_number, left(@account::text, 7))
  union all
  select 5, 'account_number', p.subscriber_id from {schema}.payers p
  where p.org_id = @org::uuid and p.account_number = any(@near::text[])
  union all
  select 6, 'username', u.subscriber_id from {schema}.usernames u
  where u.org_id = @org::uuid and length(@username::text) >= 3 and starts_with(u.username, left(@username::text, 5))
  union all
  select 7, 'account_number', p.subscriber_id from {schema}.payers p
  where p.org_id = @org::uuid and length(@key::text) >= 5 and starts_with(p.account_number, left(@key::text, 5))
  union all
  select 8, 'invoice_number', i.subscriber_id from {schema}.invoices i
  where i.org_id = @org::uuid and length(@key::text) >= 6 and starts_with(i.number_key, left(@key::text, length(@key::text) - 1))
),
best as (select distinct on (subscriber_id) rank, by, subscriber_id from near order by subscriber_id, rank)
select p.org_id, p.subscriber_id, null::uuid as invoice_id, p.account_number, b.by
from best b join {schema}.payers p using (subscriber_id)
order by b.rank, p.account_number
limit @max
