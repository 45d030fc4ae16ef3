package audit

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Entry is one line of the audit log.
type Entry struct {
	ID            id.Any          `db:"id"`
	Position      int64           `db:"position"`
	OrgID         id.Organization `db:"org_id"`
	At            time.Time       `db:"at"`
	ActorKind     string          `db:"actor_kind"`
	ActorID       string          `db:"actor_id"`
	ActorRole     string          `db:"actor_role"`
	ActorName     *string         `db:"actor_name"` // nil: not a person, or forgotten
	IP            *string         `db:"ip"`         // nil: none, or forgotten
	Action        string          `db:"action"`
	TargetType    string          `db:"target_type"`
	TargetID      id.Any          `db:"target_id"`
	Outcome       string          `db:"outcome"`
	RequestID     string          `db:"request_id"`
	CorrelationID string          `db:"correlation_id"`
	Reason        string          `db:"reason"`
	Code          string          `db:"code"`   // of a refusal
	Status        int             `db:"status"` // of a refusal, else 0
	Events        []string        `db:"events"`
}

// Key is the place of an entry in the log, newest first.
type Key struct {
	Position int64  `json:"p"`
	ID       id.Any `json:"i"`
}

// Filter narrows the log; zero fields do not.
type Filter struct {
	Actor      string
	Action     string
	TargetType string
	TargetID   id.Any
	From       time.Time // at or after
	To         time.Time // before
}

// LogQuery reads the audit log.
type LogQuery struct{ Views *runner.Views }

// SQL of the lists: of one organization, under its policy, and of everything.
const (
	columns = `e.id, e.position, e.org_id, e.at, e.actor_kind, e.actor_id, e.actor_role, a.name as actor_name, e.ip, e.action,
		e.target_type, e.target_id, e.outcome, e.request_id, e.correlation_id, e.reason, e.code, e.status, e.events`
	narrowed = `($1::bigint is null or (e.position, e.id) < ($1, $2::uuid))
		and ($3 = '' or e.actor_id = $3) and ($4 = '' or e.action = $4) and ($5 = '' or e.target_type = $5)
		and ($6::uuid is null or e.target_id = $6) and ($7::timestamptz is null or e.at >= $7) and ($8::timestamptz is null or e.at < $8)
		order by e.position desc, e.id desc limit $9`
	tenantSQL = `select ` + columns + ` from {schema}.entries e
		left join {schema}.actors a on a.org_id = e.org_id and a.user_id = e.actor_user
		where e.org_id = $10 and ` + narrowed
	platformSQL = `select ` + columns + ` from {schema}.entries e
		left join {schema}.people a on a.user_id = e.actor_user
		where ` + narrowed
)

// OfOrganization gives up to max entries of an organization after a key (nil: from the newest), newest first.
func (q LogQuery) OfOrganization(ctx context.Context, org id.Organization, f Filter, after *Key, max int) ([]Entry, error) {
	var rows []Entry
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Entry], q.Views.SQL(LogName, tenantSQL), append(f.args(after, max), org)...)
	})
	return rows, err
}

// OfAll is OfOrganization over everything, for the platform.
func (q LogQuery) OfAll(ctx context.Context, f Filter, after *Key, max int) ([]Entry, error) {
	var rows []Entry
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Entry], q.Views.SQL(LogName, platformSQL), f.args(after, max)...)
	})
	return rows, err
}

// args are the parameters 1 to 9.
func (f Filter) args(after *Key, max int) []any {
	var position *int64
	var last id.Any
	if after != nil {
		position, last = &after.Position, after.ID
	}
	return []any{position, last, f.Actor, f.Action, f.TargetType, f.TargetID, postgres.NullTime(f.From), postgres.NullTime(f.To), max}
}
