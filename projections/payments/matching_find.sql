-- Every candidate, by the rule that found it. What each rule may decide is in matching_rules.go.
with mine as not materialized (
  select subscriber_id, org_id, account_number, phone from {schema}.payers
  where currency = @currency and (@org::uuid is null or org_id = @org::uuid)
),
-- A released number gives way to the one that the next owner of its prefix gave out. On an own paybill the next owner's
-- number is no candidate, so it does not count there.
numbered as not materialized (
  select i.* from {schema}.invoices i where not i.released or not exists (
    select from {schema}.invoices n where n.number_key = i.number_key and not n.released
      and (@org::uuid is null or n.org_id = @org::uuid))
),
named as (
  select 'given_invoice' as rule, i.org_id, i.subscriber_id, i.invoice_id, i.released, i.since, i.number_key as matched
  from numbered i where i.number_key = any(@given::text[])
  union all
  select 'typed_invoice', i.org_id, i.subscriber_id, i.invoice_id, i.released, i.since, i.number_key
  from numbered i where i.number_key = any(@numbers::text[])
  union all
  select 'inside_invoice', i.org_id, i.subscriber_id, i.invoice_id, i.released, i.since, i.number_key
  from numbered i where i.number_key = any(@inside_invoices::text[])
  union all
  select 'account_number', m.org_id, m.subscriber_id, null, false, 0, m.account_number
  from mine m where m.account_number = @account::text
  union all
  select 'inside_account', m.org_id, m.subscriber_id, null, false, 0, m.account_number
  from mine m where m.account_number = any(@inside_accounts::text[])
  union all
  select 'near_account', m.org_id, m.subscriber_id, null, false, 0, m.account_number
  from mine m where m.account_number = any(@near::text[])
  union all
  select 'account_alias', a.org_id, a.subscriber_id, null, false, a.since, a.alias
  from {schema}.aliases a join mine m on m.subscriber_id = a.subscriber_id where a.alias = nullif(@alias::text, '')
  union all
  select 'prefixed_account', m.org_id, m.subscriber_id, null, false, 0, m.account_number
  from unnest(@prefixes::text[], @accounts::text[]) u (prefix, account)
  join {schema}.prefixes p on p.prefix = u.prefix and p.present
  join mine m on m.org_id = p.org_id and m.account_number = u.account
  union all
  select 'phone', m.org_id, m.subscriber_id, null, false, 0, m.phone from mine m where m.phone = nullif(@phone::text, '')
  union all
  select 'inside_phone', m.org_id, m.subscriber_id, null, false, 0, m.phone
  from mine m where m.phone = any(@inside_phones::text[])
  union all
  select 'username', u.org_id, u.subscriber_id, null, false, u.since, u.username
  from {schema}.usernames u join mine m on m.subscriber_id = u.subscriber_id
  where u.username = nullif(@username::text, '')
  union all
  select 'payer_phone', m.org_id, m.subscriber_id, null, false, 0, m.phone
  from mine m where m.phone = nullif(@payer::text, '')
  union all
  select 'prefix', p.org_id, null, null, false, 0, p.prefix from {schema}.prefixes p
  where p.prefix = any(@naming::text[]) and p.used and (@org::uuid is null or p.org_id = @org::uuid)
),
-- Two of each rule and organization show that it is not the only one: no organization crowds another one's out.
few as (
  select distinct n.*, m.account_number,
    dense_rank() over (partition by n.rule, n.org_id order by n.subscriber_id, n.invoice_id, n.matched) as nth
  from named n left join mine m on m.subscriber_id = n.subscriber_id
  where n.subscriber_id is null or m.subscriber_id is not null
)
select rule, '' as by, org_id, subscriber_id, invoice_id, released, since, matched,
  coalesce(account_number, '') as account_number
from few where nth <= 2
order by nth, rule, org_id
limit 100
