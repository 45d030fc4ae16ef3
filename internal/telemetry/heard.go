package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SilentAfter is how long nothing is heard of a router whose customers are off: each session has a report more often.
const SilentAfter = 2 * ReportEvery

// heardBefore is how long before routers went away others were heard who fell silent because of the same.
const heardBefore = time.Hour

// SQL of when organizations were heard. What is newer than any instant that has come is from when a clock was ahead.
const (
	// saveHeardSQL changes a row at most every half minute, because it runs for every group of reports.
	saveHeardSQL = `insert into {schema}.heard (org_id, at, since, before)
		select u.org, u.at, case when u.at < h.at + $4::interval and h.at <= $3 then h.since else u.at end,
			case when h.at > $3 then null when u.at < h.at + $4::interval then h.before else h.at end
		from unnest($1::uuid[], $2::timestamptz[]) u (org, at)
		left join {schema}.heard h on h.org_id = u.org
		where h.at is null or h.at < u.at - interval '30 seconds' or h.at > $3
		on conflict (org_id) do update set at = excluded.at, since = excluded.since, before = excluded.before`
	// lastSQL is the last report of an organization, of one that is heard again for a short while that before the gap.
	lastSQL      = `case when since > @short then before else at end`
	lastHeardSQL = `select max(` + lastSQL + `), max(` + lastSQL + `) filter (where org_id <> @org),
		coalesce(bool_or(at > @short and since <= @short), false) from {schema}.heard where at <= @now`
	// fellSilentSQL asks for each of the others by itself, so that nothing of the organization is read, nor what
	// others had before. The order is that of the index that has the open sessions of one organization. Sessions of
	// those that are heard again count that began before.
	fellSilentSQL = `select exists (select from (
			select org_id, at, ` + lastSQL + ` as last, case when since > @short then since else 'infinity' end as again
			from {schema}.heard) h cross join lateral (
			(select from {schema}.sessions x where x.org_id = h.org_id and x.ended_at is null
				and x.updated_at > @from and x.updated_at <= @now and x.started_at < h.again
				order by x.started_at desc, x.id desc limit 1)
			union all
			(select from {schema}.sessions x where x.org_id = h.org_id and x.` + concludedSQL + `
				and x.ended_at > @from and x.ended_at <= @now limit 1)) x
		where h.org_id <> @org and h.last > @from and h.at <= @now)`
)

// queueHeard writes when the organizations of a group were heard last.
func (s *Store) queueHeard(batch *pgx.Batch, b *book) {
	orgs, at := make([]pgtype.UUID, 0, len(b.heard)), make([]time.Time, 0, len(b.heard))
	for org, last := range b.heard {
		orgs, at = append(orgs, key(org)), append(at, last)
	}
	latest := b.latest()
	latest.Time = latest.Time.Add(Slack) // another program may have heard them, whose clock is ahead of ours
	batch.Queue(s.sql.heard, orgs, at, latest, SilentAfter)
}

// CutOff reports whether this installation hears nothing because it is cut off, or was until a short while ago, so that
// the silence of an organization's routers says nothing about them: no router at all has reported within some time, or
// only those of organizations that were silent before, and those of another organization fell silent within such a time
// of the last report, and not long before the organization's routers went away. Whoever had signed off did not fall
// silent.
func (s *Store) CutOff(
	ctx context.Context, org id.Organization, went, now time.Time, within time.Duration,
) (silent bool, err error) {
	args := pgx.NamedArgs{"org": org.UUID(), "short": now.Add(-within), "now": now.Add(Slack)}
	var last, others *time.Time
	var heard bool
	if err := s.db.Owner.QueryRow(ctx, s.text(lastHeardSQL), args).Scan(&last, &others, &heard); err != nil {
		return false, fmt.Errorf("ask when routers were heard: %w", err)
	}
	if others == nil || heard {
		return false, nil
	}
	from := maxTime(last.Add(-within), went.Add(-heardBefore))
	if !others.After(from) {
		return false, nil
	}
	args["from"] = from
	if err := s.db.Owner.QueryRow(ctx, s.text(fellSilentSQL), args).Scan(&silent); err != nil {
		return false, fmt.Errorf("ask who fell silent: %w", err)
	}
	return silent, nil
}
