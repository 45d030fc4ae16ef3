-- Each rule gives few rows, so that no text is a search through all customers.
with near as (
  (select 1 as rank, 'invoice_number' as by, i.subscriber_id from {schema}.invoices i
  where (@org::uuid is null or i.org_id = @org) and i.number_key = any(@numbers::text[]) limit @each)
  union all
  (select 2, 'account_alias', a.subscriber_id from {schema}.aliases a
  where (@org::uuid is null or a.org_id = @org) and a.alias = nullif(@alias::text, '') limit @each)
  union all
  (select 3, 'payer_phone', p.subscriber_id from {schema}.payers p
  where (@org::uuid is null or p.org_id = @org) and p.phone = nullif(@payer::text, '') limit @each)
  union all
  (select 4, 'phone', p.subscriber_id from {schema}.payers p
  where (@org::uuid is null or p.org_id = @org) and p.phone = any(array_remove(@phones::text[], '')) limit @each)
  union all
  (select 5, 'account_number', p.subscriber_id from {schema}.payers p
  where (@org::uuid is null or p.org_id = @org) and length(@account::text) = 8
    and starts_with(p.account_number, left(@account::text, 7)) limit @each)
  union all
  (select 6, 'account_number', p.subscriber_id from {schema}.payers p
  where (@org::uuid is null or p.org_id = @org) and p.account_number = any(@near::text[]) limit @each)
  union all
  (select 7, 'near_alias', a.subscriber_id from {schema}.aliases a
  where (@org::uuid is null or a.org_id = @org) and a.alias = any(@near_aliases::text[]) limit @each)
  union all
  (select 8, 'username', u.subscriber_id from {schema}.usernames u
  where (@org::uuid is null or u.org_id = @org) and length(@username::text) >= 3
    and starts_with(u.username, left(@username::text, 5)) limit @each)
  union all
  (select 9, 'account_number', p.subscriber_id from {schema}.payers p
  where @org::uuid is not null and p.org_id = @org and length(@key::text) >= 5
    and starts_with(p.account_number, left(@key::text, 5)) limit @each)
  union all
  (select 10, 'invoice_number', i.subscriber_id from {schema}.invoices i
  where (@org::uuid is null or i.org_id = @org) and length(@key::text) >= 6
    and starts_with(i.number_key, left(@key::text, length(@key::text) - 1)) limit @each)
),
best as (
  select subscriber_id, min(rank) as rank, (array_agg(by order by rank))[1] as by, array_agg(by order by rank) as reasons
  from near group by subscriber_id
)
select p.org_id, p.subscriber_id, null::uuid as invoice_id, p.account_number, b.by, b.reasons
from best b join {schema}.payers p using (subscriber_id)
order by b.rank, p.account_number
limit @max
