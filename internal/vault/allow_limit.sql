-- $1 key, $2 now, $3 window in microseconds, $4 limit.
insert into {schema}.limits as l (key, started_at, previous, current, allowed, expires_at)
values ($1, $2::timestamptz, 0, least($4::int, 1), $4::int > 0,
	$2::timestamptz + 2 * $3::bigint * interval '1 microsecond')
on conflict (key) do update set (started_at, previous, current, allowed, expires_at) = (
	select started, prev, cur + ok::int, ok, started + 2 * $3::bigint * interval '1 microsecond'
	from (
		select started, prev, cur,
		       prev::bigint * ($3::bigint - greatest((extract(epoch from $2::timestamptz - started) * 1000000)::bigint, 0))
		           + (cur + 1) * $3::bigint <= $4::int * $3::bigint as ok
		from (
			select case gone when 0 then l.started_at
			            when 1 then l.started_at + $3::bigint * interval '1 microsecond'
			            else $2::timestamptz end as started,
			       case gone when 0 then l.previous when 1 then l.current else 0 end as prev,
			       case gone when 0 then l.current else 0 end as cur
			from (select (extract(epoch from $2::timestamptz - l.started_at) * 1000000)::bigint
				/ $3::bigint as gone) as g
		) as rolled
	) as judged)
returning started_at, previous, current, allowed
