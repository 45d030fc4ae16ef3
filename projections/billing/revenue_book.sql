-- Books what an event changes of the revenue of invoices. What was earned until the event stays earned, in the share
-- of the time that had run; what is left is earned over the time that is left. A change of the price changes both
-- shares.
with was as (
  select e.*,
    -- the total that is to be booked: all of it less its share in credit notes, or nothing
    case when e.issued and not e.voided and not e.ordered and (e.paid or not e.prepaid) then 1 else 0 end as counts,
    coalesce(round(e.tax_minor::numeric * e.credited_minor / nullif(e.net_minor + e.tax_minor, 0)), 0)::bigint
      as credited_tax,
    case when e.subscription_id is null or s.ended then 'once' when s.stopped or e.from_at is null then 'wait'
      else extract(epoch from e.from_at) || ' to ' || extract(epoch from e.to_at) end as place,
    -- which share of the open part had run
    case when e.open_from is null or e.open_from >= @at::timestamptz and e.open_from < e.open_to then 0
      when e.open_to <= @at::timestamptz then 1
      else extract(epoch from @at::timestamptz - e.open_from) / extract(epoch from e.open_to - e.open_from)
    end as ran
  from {schema}.earnings e left join {schema}.sold s on s.subscription_id = e.subscription_id
  where {where} and e.position < @position::bigint
), total as (
  select *, counts * (tax_minor - credited_tax) as new_tax,
    counts * (net_minor - (credited_minor - credited_tax)) as new_net,
    done_net + open_net as old_net, done_tax + open_tax as old_tax,
    round(open_net * ran)::bigint as ran_net, round(open_tax * ran)::bigint as ran_tax
  from was
), changed as (
  select *, new_net || ' ' || new_tax || ' ' || place as new_way,
    coalesce(round((done_net + ran_net)::numeric * new_net / nullif(old_net, 0)), 0)::bigint as new_done_net,
    coalesce(round((done_tax + ran_tax)::numeric * new_tax / nullif(old_tax, 0)), 0)::bigint as new_done_tax,
    -- A first booking takes the place as it is, also where it has begun before.
    case when place = 'once' then @at::timestamptz when place = 'wait' then null
      when old_net = 0 and old_tax = 0 then from_at when to_at <= @at::timestamptz then @at::timestamptz
      else greatest(from_at, @at::timestamptz) end as new_from,
    case when place = 'once' then @at::timestamptz when place = 'wait' then null
      when (old_net <> 0 or old_tax <> 0) and to_at <= @at::timestamptz then @at::timestamptz else to_at end as new_to
  from total
), booked as (
  insert into {schema}.revenue
    (position, invoice_id, part, org_id, plan_id, at, net_minor, tax_minor, from_at, to_at)
  select @position::bigint, c.invoice_id, p.part, c.org_id, c.plan_id, @at::timestamptz, p.net, p.tax, p.from_at,
    p.to_at
  from changed c cross join lateral (values
    -- the open part is taken back, unless all of its time has run, and what has run of it is booked instead
    (1, case when ran < 1 then -open_net else 0 end, case when ran < 1 then -open_tax else 0 end, open_from, open_to),
    (2, case when ran < 1 then ran_net else 0 end, case when ran < 1 then ran_tax else 0 end, open_from,
      @at::timestamptz),
    (3, new_done_net - done_net - ran_net, new_done_tax - done_tax - ran_tax, @at::timestamptz, @at::timestamptz),
    (4, new_net - new_done_net, new_tax - new_done_tax, new_from, new_to)
  ) p (part, net, tax, from_at, to_at)
  where c.way <> c.new_way and (p.net <> 0 or p.tax <> 0)
  on conflict do nothing
)
update {schema}.earnings e set position = @position::bigint, way = c.new_way,
  done_net = case when c.way <> c.new_way then c.new_done_net else e.done_net end,
  done_tax = case when c.way <> c.new_way then c.new_done_tax else e.done_tax end,
  open_net = case when c.way <> c.new_way then c.new_net - c.new_done_net else e.open_net end,
  open_tax = case when c.way <> c.new_way then c.new_tax - c.new_done_tax else e.open_tax end,
  open_from = case when c.way <> c.new_way then c.new_from else e.open_from end,
  open_to = case when c.way <> c.new_way then c.new_to else e.open_to end
from changed c where e.invoice_id = c.invoice_id
