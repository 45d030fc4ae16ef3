package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// heardBefore is how long before routers went away others were heard who fell silent because of the same.
const heardBefore = time.Hour

// SQL of when organizations were heard. What is newer than any instant that has come is from when a clock was ahead.
const (
	// saveHeardSQL changes a row at most every half minute, because it runs for every group of reports.
	saveHeardSQL = `insert into {schema}.heard (org_id, at)
		select u.org, u.at from unnest($1::uuid[], $2::timestamptz[]) u (org, at)
		left join {schema}.heard h on h.org_id = u.org
		where h.at is null or h.at < u.at - interval '30 seconds' or h.at > $3
		on conflict (org_id) do update set at = excluded.at`
	lastHeardSQL = `select max(at), max(at) filter (where org_id <> $1) from {schema}.heard where at <= $2`
	// fellSilentSQL asks for each of the others by itself, so that nothing of the organization is read, nor what
	// others had before. The order is that of the index that has the open sessions of one organization.
	fellSilentSQL = `select exists (select from {schema}.heard h cross join lateral (
			(select from {schema}.sessions x where x.org_id = h.org_id and x.ended_at is null
				and x.updated_at > @from and x.updated_at <= @now order by x.started_at desc, x.id desc limit 1)
			union all
			(select from {schema}.sessions x where x.org_id = h.org_id and x.` + concludedSQL + `
				and x.ended_at > @from and x.ended_at <= @now limit 1)) x
		where h.org_id <> @org and h.at > @from and h.at <= @now)`
)

// queueHeard writes when the organizations of a group were heard last.
func (s *Store) queueHeard(batch *pgx.Batch, b *book) {
	orgs, at := make([]pgtype.UUID, 0, len(b.heard)), make([]time.Time, 0, len(b.heard))
	for org, last := range b.heard {
		orgs, at = append(orgs, key(org)), append(at, last)
	}
	batch.Queue(s.sql.heard, orgs, at, b.latest())
}

// CutOff reports whether this installation hears nothing because it is cut off, so that the silence of an
// organization's routers says nothing about them: no router at all has reported within some time, and those of another
// organization fell silent within such a time of the last report, and not long before the organization's routers went
// away. Whoever had signed off did not fall silent.
func (s *Store) CutOff(
	ctx context.Context, org id.Organization, went, now time.Time, within time.Duration,
) (silent bool, err error) {
	var last, others *time.Time
	if err := s.db.Owner.QueryRow(ctx, s.text(lastHeardSQL), org.UUID(), now).Scan(&last, &others); err != nil {
		return false, fmt.Errorf("ask when routers were heard: %w", err)
	}
	if others == nil || last.After(now.Add(-within)) {
		return false, nil
	}
	from := maxTime(last.Add(-within), went.Add(-heardBefore))
	if !others.After(from) {
		return false, nil
	}
	err = s.db.Owner.QueryRow(ctx, s.text(fellSilentSQL), pgx.NamedArgs{
		"org": org.UUID(), "from": from, "now": now,
	}).Scan(&silent)
	if err != nil {
		return false, fmt.Errorf("ask who fell silent: %w", err)
	}
	return silent, nil
}
