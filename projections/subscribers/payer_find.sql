-- Each part reads few rows: the terms of the words, those of them who owe the amount, and a few who owe it.
with worded as materialized (
  select subscriber_id from {schema}.terms where org_id = @org and term = any(@words::text[]) limit @most_worded
),
named as (
  select subscriber_id from worded group by subscriber_id having count(*) >= 2 limit @most::int + 1
),
owing as (
  select subscriber_id from {schema}.subscribers
  where org_id = @org and balance_minor = @amount and currency = @currency and status <> 'forgotten'
  limit @most::int + 1
),
alike as (
  select distinct s.subscriber_id from worded w join {schema}.subscribers s on s.subscriber_id = w.subscriber_id
  where s.org_id = @org and s.balance_minor = @amount and s.currency = @currency and s.status <> 'forgotten'
  limit @most::int + 1
)
select subscriber_id from named where (select count(*) from named) <= @most::int
union
select subscriber_id from owing where (select count(*) from owing) <= @most::int
union
select subscriber_id from alike where (select count(*) from alike) <= @most::int
