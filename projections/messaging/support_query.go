package messagingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SupportRow is one support request without its texts.
type SupportRow struct {
	ID           id.Support    `db:"request_id"`
	SubscriberID id.Subscriber `db:"subscriber_id"`
	Subject      *string       `db:"subject"` // nil = the person was forgotten
	State        string        `db:"state"`   // one of SupportStates
	Assignee     id.User       `db:"assignee"`
	OpenedAt     time.Time     `db:"opened_at"`
	LastAt       time.Time     `db:"last_at"`       // of the last text that the customer reads
	WaitingSince *time.Time    `db:"waiting_since"` // of the customer; nil = there is nothing to answer
	ClosedAt     *time.Time    `db:"closed_at"`
	Revision     int64         `db:"revision"`
}

// SupportStates are the values of SupportRow.State.
func SupportStates() []string { return []string{"open", "answered", "closed"} }

// SupportKey is a row's place in the list: who waits longest, then what was written last. The zero value starts at the
// first row.
type SupportKey struct {
	Quiet bool       `json:"q"` // nobody waits
	At    time.Time  `json:"a"`
	ID    id.Support `json:"i"`
}

// Key makes the next page begin after this row.
func (r SupportRow) Key() SupportKey {
	if r.WaitingSince != nil {
		return SupportKey{At: *r.WaitingSince, ID: r.ID}
	}
	return SupportKey{Quiet: true, At: r.LastAt, ID: r.ID}
}

// SupportFilter narrows a list. A zero field does not restrict it, but Among finds nothing when it is empty and not
// nil.
type SupportFilter struct {
	State        string
	Assignee     id.User
	Unassigned   bool
	SubscriberID id.Subscriber
	Among        []id.Subscriber
}

// SupportText is one text of a request.
type SupportText struct {
	Number     int       `db:"number"`
	At         time.Time `db:"at"`
	ByCustomer bool      `db:"by_customer"`
	Internal   bool      `db:"internal"`
	UserID     id.User   `db:"user_id"` // who wrote it; zero = no user
	Text       *string   `db:"text"`    // nil = the person was forgotten
}

// SupportQuery serves support requests.
type SupportQuery struct{ Views *runner.Views }

// supportSelect fits SupportRow; a condition follows.
const supportSelect = `select request_id, subscriber_id, subject, state, assignee, opened_at, last_at, waiting_since,
	closed_at, revision from {schema}.requests where `

// Get returns a request of an organization; nil when it has none with this id.
func (q SupportQuery) Get(ctx context.Context, org id.Organization, request id.Support) (*SupportRow, error) {
	var row *SupportRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SupportRow],
			q.Views.SQL(SupportName, supportSelect+`org_id = $1 and request_id = $2`), org, request)
	})
	return row, err
}

// Texts returns all texts of a request in their order. A request has some hundreds at most.
func (q SupportQuery) Texts(ctx context.Context, org id.Organization, request id.Support) ([]SupportText, error) {
	var list []SupportText
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[SupportText], q.Views.SQL(SupportName, `
			select number, at, by_customer, internal, user_id, text from {schema}.texts
			where org_id = $1 and request_id = $2 order by number`), org, request)
	})
	return list, err
}

// List returns up to max requests of an organization after a key: those where the customer waits, longest first, then
// the others, what was written last first.
func (q SupportQuery) List(
	ctx context.Context, org id.Organization, f SupportFilter, after SupportKey, max int,
) ([]SupportRow, error) {
	var rows []SupportRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SupportRow], q.Views.SQL(SupportName,
			supportSelect+`org_id = @org and (@state = '' or state = @state)
			and (@assignee::uuid is null or assignee = @assignee::uuid)
			and (not @unassigned::boolean or assignee is null)
			and (@subscriber::uuid is null or subscriber_id = @subscriber::uuid)
			and (@among::uuid[] is null or subscriber_id = any(@among::uuid[]))
			and (@at::timestamptz is null or (waiting_since is null) > @quiet::boolean
				or (waiting_since is null) = @quiet::boolean and case when @quiet::boolean
					then last_at < @at::timestamptz or last_at = @at::timestamptz and request_id > @id::uuid
					else (waiting_since, request_id) > (@at::timestamptz, @id::uuid) end)
			order by waiting_since is null, waiting_since, case when waiting_since is null then last_at end desc,
				request_id limit @max`), pgx.NamedArgs{
			"org": org, "state": f.State, "assignee": f.Assignee, "unassigned": f.Unassigned,
			"subscriber": f.SubscriberID, "among": f.Among, "at": null.Time(after.At), "quiet": after.Quiet,
			"id": after.ID, "max": max,
		})
	})
	return rows, err
}

// Waiting counts the requests of an organization whose customers wait for an answer.
func (q SupportQuery) Waiting(ctx context.Context, org id.Organization) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(SupportName, `select count(*)::int
			from {schema}.requests where org_id = $1 and waiting_since is not null`), org)
	})
	return n, err
}
