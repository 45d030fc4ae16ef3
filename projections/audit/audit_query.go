package auditviews

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Entry is one line of the audit log. At is UTC.
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
	Code          string          `db:"code"`     // of a refusal
	Status        int             `db:"status"`   // of a refusal, else 0
	Refusals      int             `db:"refusals"` // that the entry stands for; 0 for what was done
	Events        []string        `db:"events"`
	Detail        *RouterWrite    `db:"detail"` // of a write to a router, else nil
}

// RouterWrite is one write to a router, with the values before and after. Secret values are masked.
type RouterWrite struct {
	Path      string            `json:"path"` // menu of RouterOS: "ip/pool"
	Operation string            `json:"operation"`
	Name      string            `json:"name"`
	Before    map[string]string `json:"before"`
	After     map[string]string `json:"after"`
	Found     bool              `json:"found"` // the answer was lost; a later look found the write on the router
	ServiceID id.Service        `json:"serviceId"`
	RunID     id.Run            `json:"runId"`
	Message   string            `json:"message,omitempty"` // of a write that the router refused: its own words
}

// Key is an entry's place in the log, newest first. The zero value starts at the newest entry.
type Key struct {
	Position int64 `json:"p"`
}

// Key makes the next page begin after this entry.
func (r Entry) Key() Key { return Key{Position: r.Position} }

// Filter narrows the log. A zero field does not restrict it; several fields must all fit.
type Filter struct {
	Actor      string
	Action     string
	TargetType string
	TargetID   id.Any
	Outcome    string
	From       time.Time // at or after
	To         time.Time // before
}

// LogQuery serves the audit log, to one organization or to the platform.
type LogQuery struct{ Views *runner.Views }

// SQL of the lists: of one organization, under its policy, and of all. narrow appends the conditions.
const (
	columns = `e.id, e.position, e.org_id, e.at, e.actor_kind, e.actor_id, e.actor_role, a.name as actor_name, e.ip,
		e.action, e.target_type, e.target_id, e.outcome, e.request_id, e.correlation_id, e.reason, e.code, e.status,
		e.refusals, e.events, e.detail`
	tenantFrom = `select ` + columns + ` from {schema}.entries e
		left join {schema}.actors a on a.org_id = e.org_id and a.user_id = e.actor_user`
	platformFrom = `select ` + columns + ` from {schema}.entries e
		left join {schema}.people a on a.user_id = e.actor_user`
	before      = ` where e.position < @position`
	tenantSQL   = tenantFrom + before
	platformSQL = platformFrom + before
	newestFirst = ` order by e.position desc limit @max`
)

// OfOrganization returns up to max entries of an organization after a key, newest first.
func (q LogQuery) OfOrganization(
	ctx context.Context, org id.Organization, f Filter, after Key, max int,
) ([]Entry, error) {
	var rows []Entry
	sql, args := f.narrow(tenantSQL, after, max, condition{"e.org_id = ", "org", org})
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Entry], q.Views.SQL(LogName, sql), args)
	})
	return rows, err
}

// OfAll is OfOrganization for the platform: of one organization, or with the zero one of all and the platform's own.
func (q LogQuery) OfAll(ctx context.Context, org id.Organization, f Filter, after Key, max int) ([]Entry, error) {
	var rows []Entry
	sql, args := f.ofAll(org, after, max)
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Entry], q.Views.SQL(LogName, sql), args)
	})
	return rows, err
}

// ofAll is the statement of OfAll with its arguments.
func (f Filter) ofAll(org id.Organization, after Key, max int) (string, pgx.NamedArgs) {
	if org.IsZero() {
		return f.narrow(platformSQL, after, max)
	}
	return f.narrow(platformSQL, after, max, condition{"e.org_id = ", "org", org})
}

// Get returns one entry, nil when there is none with this id: of an organization under its policy, or of all for the
// zero organization.
func (q LogQuery) Get(ctx context.Context, org id.Organization, entry id.Any) (*Entry, error) {
	var row *Entry
	scan := pgx.RowToStructByName[Entry]
	if org.IsZero() {
		err := q.Views.Platform(ctx, func(r *postgres.Reads) {
			postgres.CollectMaybe(r, &row, scan, q.Views.SQL(LogName, platformFrom+` where e.id = $1`), entry)
		})
		return row, err
	}
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, scan,
			q.Views.SQL(LogName, tenantFrom+` where e.id = $1 and e.org_id = $2`), entry, org)
	})
	return row, err
}

// condition is "and", a text that ends with an operator, and a named argument.
type condition struct {
	text  string
	name  string
	value any
}

// narrow appends the wanted conditions, the order and the limit. Each combination of conditions is a statement of its
// own, so that the planner can choose the index for it.
func (f Filter) narrow(sql string, after Key, max int, with ...condition) (string, pgx.NamedArgs) {
	if after == (Key{}) {
		after.Position = math.MaxInt64
	}
	add := func(wanted bool, c condition) {
		if wanted {
			with = append(with, c)
		}
	}
	add(f.Actor != "", condition{"e.actor_id = ", "actor", f.Actor})
	add(f.Action != "", condition{"e.action = ", "action", f.Action})
	add(f.TargetType != "", condition{"e.target_type = ", "target_type", f.TargetType})
	add(!f.TargetID.IsZero(), condition{"e.target_id = ", "target_id", f.TargetID})
	add(f.Outcome == Succeeded, condition{"e.outcome = ", "outcome", f.Outcome})
	// The index has no entry that succeeded, which the planner must read in the statement.
	add(f.Outcome != "" && f.Outcome != Succeeded,
		condition{"e.outcome <> '" + Succeeded + "' and e.outcome = ", "outcome", f.Outcome})
	add(!f.From.IsZero(), condition{"e.at >= ", "from", f.From})
	add(!f.To.IsZero(), condition{"e.at < ", "to", f.To})
	args := pgx.NamedArgs{"position": after.Position, "max": max}
	for _, c := range with {
		args[c.name] = c.value
		sql += " and " + c.text + "@" + c.name
	}
	return sql + newestFirst, args
}
