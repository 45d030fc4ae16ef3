-- How much is earned in each period of a report, by plan, and, as period 0, what is not yet earned at its end. days are
-- the first instants of local days, from long before the report until long after; bounds are the places in days where
-- the periods of the report begin, and last of all where it ends. An amount is earned in equal parts over its days, and
-- what is earned up to the end of a day is rounded: so the days of an amount sum to it.
select part.period, r.plan_id,
  sum((2 * r.net_minor * part.until + day.net_half) / (2 * day.n)
    - (2 * r.net_minor * part.before + day.net_half) / (2 * day.n))::bigint as net_minor,
  sum((2 * r.tax_minor * part.until + day.tax_half) / (2 * day.n)
    - (2 * r.tax_minor * part.before + day.tax_half) / (2 * day.n))::bigint as tax_minor
from {schema}.revenue r
cross join lateral (
  select width_bucket(r.at, @days::timestamptz[]) as booked, width_bucket(r.from_at, @days::timestamptz[]) as first,
    width_bucket(r.to_at, @days::timestamptz[]) as last
  offset 0 -- so that the places are looked up once for each row
) place
cross join lateral (
  select booked, first, n, case when r.net_minor < 0 then -n else n end as net_half,
    case when r.tax_minor < 0 then -n else n end as tax_half,
    -- the first and the last day on which something is earned; what waits has no last one
    greatest(booked, first) as begins, case when first is null then 2147483647 else greatest(booked, first + n - 1) end
      as finishes
  from (select place.booked, place.first, greatest(place.last - place.first, 1)::bigint as n) counted
  offset 0
) day
join (
  select i as period, (@bounds::int[])[i] as starts, (@bounds::int[])[i + 1] as ends
  from generate_series(1, cardinality(@bounds::int[]) - 1) i
  union all
  select 0, (@bounds::int[])[cardinality(@bounds::int[])], 2147483647
) span on day.begins < span.ends and day.finishes >= span.starts
cross join lateral (
  select span.period, case when span.period = 0 then day.n when day.booked < span.ends
      then least(greatest(span.ends - day.first, 0), day.n) else 0 end as until,
    case when day.booked < span.starts then least(greatest(span.starts - day.first, 0), day.n) else 0 end as before
) part
where r.org_id = @org and r.at < @until and r.ends_at >= @from and part.until > part.before
group by 1, 2 order by 1, 2
