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
  select 0 as rank, 'invoice_number' as by, i.org_id, i.subscriber_id, i.invoice_id, i.released
  from numbered i where i.number_key = any(@given::text[])
  union all
  select 1, 'invoice_number', i.org_id, i.subscriber_id, i.invoice_id, i.released
  from numbered i where i.number_key = any(@numbers::text[])
  union all
  select 2, 'account_number', m.org_id, m.subscriber_id, null, false
  from mine m where m.account_number = @account::text
  union all
  select 3, 'account_alias', a.org_id, a.subscriber_id, null, false
  from {schema}.aliases a join mine m on m.subscriber_id = a.subscriber_id where a.alias = nullif(@alias::text, '')
  union all
  select 4, 'prefixed_account', m.org_id, m.subscriber_id, null, false
  from unnest(@prefixes::text[], @accounts::text[]) u (prefix, account)
  join {schema}.prefixes p on p.prefix = u.prefix and p.present
  join mine m on m.org_id = p.org_id and m.account_number = u.account
  union all
  select 5, 'phone', m.org_id, m.subscriber_id, null, false from mine m where m.phone = nullif(@phone::text, '')
  union all
  -- On the shared paybill every organization chooses usernames for itself. One of the account number is ours.
  select case when @org::uuid is not null then 6
      when starts_with(u.username, m.account_number || '-') then 2
      when @numeric::boolean then 9
      when @separated::boolean and exists (select from {schema}.prefixes p where p.prefix = any(@prefixes::text[])) then 9
      else 6 end, 'username', u.org_id, u.subscriber_id, null, false
  from {schema}.usernames u join mine m on m.subscriber_id = u.subscriber_id
  where u.username = nullif(@username::text, '')
  union all
  select case when @misspelt::boolean or exists (select from {schema}.prefixes p
      where p.prefix = any(@naming::text[]) and (@org::uuid is null or p.org_id = @org::uuid)) then 8
      else 7 end, 'payer_phone', m.org_id, m.subscriber_id, null, false
  from mine m where m.phone = nullif(@payer::text, '')
),
-- Two of each rule and organization show that it is not the only one: no organization crowds another one's out.
few as (
  select distinct n.rank, n.by, n.org_id, n.subscriber_id, n.invoice_id, n.released, m.account_number,
    dense_rank() over (partition by n.rank, n.org_id order by n.subscriber_id, n.invoice_id) as nth
  from named n join mine m on m.subscriber_id = n.subscriber_id
)
select rank, by, org_id, subscriber_id, invoice_id, released, account_number from few
where nth <= 2
order by rank, nth, org_id
limit 20
