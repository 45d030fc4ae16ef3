package subscribersviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TimelineCauses lists what a row's CauseType can be, sorted.
var TimelineCauses = []string{
	"access_difference", "approval", "cpe", "credit_note", "invoice", "lookup", "message", "payment", "receipt",
	"session", "subscriber", "subscription", "support_request", "user", "write_off",
}

// TimelineRow is one event of a subscriber's timeline. At is the time of the record, UTC.
type TimelineRow struct {
	Position  int64     `db:"position"`
	EventID   id.Event  `db:"event_id"` // of the event that the row tells
	At        time.Time `db:"at"`
	Type      string    `db:"type"` // event type without its version: "billing.InvoiceIssued"
	Code      string    `db:"code"` // one of SentenceCodes
	Facts     Facts     `db:"facts"`
	ActorKind string    `db:"actor_kind"`
	ActorID   string    `db:"actor_id"`
	ActorRole string    `db:"actor_role"`
	Reason    string    `db:"reason"` // "" = none given, or erased
	// CauseType is one of TimelineCauses.
	CauseType string `db:"cause_type"`
	CauseID   id.Any `db:"cause_id"`
}

// Says makes a sentence of the row, for any zone.
func (r TimelineRow) Says() Sentence { return Sentence{Code: r.Code, Facts: r.Facts} }

// TimelineKey is a row's place in the list, newest first. The zero value starts at the newest row.
type TimelineKey struct {
	Position int64 `json:"p"`
}

// Key makes the next page begin after this row.
func (r TimelineRow) Key() TimelineKey { return TimelineKey{Position: r.Position} }

// TimelineQuery serves the timelines of an organization's subscribers.
type TimelineQuery struct{ Views *runner.Views }

// TimelineFilter narrows a timeline. A zero field does not restrict it.
type TimelineFilter struct {
	Types    []string  // of events without the version, or their areas: "billing.InvoiceIssued", "access"
	From, To time.Time // when it was recorded; To is exclusive
}

// timelineSQL selects a page; the key 0 starts at the newest row.
const timelineSQL = `select position, event_id, at, type, code, facts, actor_kind, actor_id, actor_role, reason,
		cause_type, cause_id from {schema}.timeline
	where subscriber_id = @subscriber and (@position::bigint = 0 or position < @position)
		and (@types::text[] is null or type = any(@types) or split_part(type, '.', 1) = any(@types))
		and (@from::timestamptz is null or at >= @from) and (@to::timestamptz is null or at < @to)
	order by position desc limit @max`

// List returns up to max rows of a subscriber after a key, newest first.
func (q TimelineQuery) List(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, f TimelineFilter, after TimelineKey, max int,
) ([]TimelineRow, error) {
	var rows []TimelineRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[TimelineRow], q.Views.SQL(TimelineName, timelineSQL),
			pgx.NamedArgs{
				"subscriber": subscriber, "position": after.Position, "types": f.Types, "from": null.Time(f.From),
				"to": null.Time(f.To), "max": max,
			})
	})
	return rows, err
}
