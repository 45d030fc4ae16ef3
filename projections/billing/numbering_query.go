package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// WaitingSeries is a series with documents that wait for their numbers.
type WaitingSeries struct {
	SeriesID id.Series       `db:"series_id"`
	OrgID    id.Organization `db:"org_id"`
	Kind     string          `db:"kind"` // "invoice" or "credit_note"
	Prefix   string          `db:"prefix"`
	Last     int64           `db:"last"` // last number that this read model knows; 0 for none
	// Granted is the number of documents that got a number since the time given, and are not issued yet.
	Granted int `db:"granted"`
}

// WaitingDocument is a document that waits for its number.
type WaitingDocument struct {
	Last         int64         `db:"last"` // of the series, as of the same event as the list
	DocumentID   id.Any        `db:"document_id"`
	SubscriberID id.Subscriber `db:"subscriber_id"`
}

// NumberingQuery reads over the series of all organizations.
type NumberingQuery struct{ Views *runner.Views }

// waits restricts to documents that wait for the batcher: no other one comes before them, and at now, the second
// parameter, no billing run has them.
const waits = `seq is null and after_id is null and (for_run is null or for_run <= $2)`

// Series lists the series with waiting documents: first those with the fewest granted ones, then by the age of the
// oldest waiting one, so that the burst of one organization does not hold up another's single invoice.
// since is from when granted documents count. The recursion visits one row of each series, so that the list costs the
// same however many documents wait.
func (q NumberingQuery) Series(ctx context.Context, since, now time.Time) ([]WaitingSeries, error) {
	var rows []WaitingSeries
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[WaitingSeries], q.Views.SQL(NumberingName, `
			with recursive waiting as (
				(select series_id, org_id, kind, prefix, position from {schema}.documents where `+waits+`
				order by series_id, position limit 1)
				union all
				select d.series_id, d.org_id, d.kind, d.prefix, d.position from waiting w cross join lateral (
					select series_id, org_id, kind, prefix, position from {schema}.documents
					where `+waits+` and series_id > w.series_id order by series_id, position limit 1
				) d
			)
			select w.series_id, w.org_id, w.kind, w.prefix, coalesce(s.last, 0) as last, (
				select count(*) from {schema}.documents g
				where g.series_id = w.series_id and g.seq is not null and not g.final and g.granted_at > $1
			) as granted
			from waiting w left join {schema}.series s on s.series_id = w.series_id
			order by granted, w.position`), since, now)
	})
	return rows, err
}

// Documents lists up to max documents of a series that wait for their numbers, in the order of their drafts. The list
// and the last number beside it are read by one statement, so they are as of the same event.
func (q NumberingQuery) Documents(
	ctx context.Context, series id.Series, now time.Time, max int,
) ([]WaitingDocument, error) {
	var rows []WaitingDocument
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[WaitingDocument], q.Views.SQL(NumberingName, `
			select coalesce((select last from {schema}.series where series_id = $1), 0) as last, document_id,
				subscriber_id
			from {schema}.documents where series_id = $1 and `+waits+` order by position, document_id limit $3`),
			series, now, max)
	})
	return rows, err
}

// Watch calls cond at once and whenever the read model wrote rows, until cond returns true or 2 s have passed.
func (q NumberingQuery) Watch(ctx context.Context, cond func(ctx context.Context) (bool, error)) (bool, error) {
	return q.Views.Watch(ctx, NumberingName, cond)
}

// Until is Watch while documents wait: the read model does not gather events meanwhile.
func (q NumberingQuery) Until(ctx context.Context, cond func(ctx context.Context) (bool, error)) (bool, error) {
	return q.Views.WaitUntil(ctx, NumberingName, cond)
}

// Waiting reports whether any document waits for its number or for its issue, as of a position of the log at least.
func (q NumberingQuery) Waiting(ctx context.Context, position uint64) (waiting bool, err error) {
	if err := q.Views.WaitFor(ctx, NumberingName, position); err != nil {
		return false, err
	}
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &waiting, pgx.RowTo[bool], q.Views.SQL(NumberingName, `
			select exists (select from {schema}.documents where seq is null)
				or exists (select from {schema}.documents where seq is not null and not final)`))
	})
	return waiting, err
}
