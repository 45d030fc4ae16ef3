// Package auditviews has the read model of the audit log: who did what, when, from where, to which target, with what
// outcome. It is derived from events and their metadata only; no program writes a row in another way.
package auditviews

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// LogName keys the projection's checkpoint and schemas, so it never changes.
const LogName = "audit_log"

// Log has one entry for each command and stream that the command wrote, one for each write to a router, and one for
// each write request that was refused.
type Log struct{}

// logDDL is compiled in from audit.sql.
//
//go:embed audit.sql
var logDDL string

// Name keys checkpoint and schemas.
func (Log) Name() string { return LogName }

// Version must grow with every change to the tables or to Apply.
func (Log) Version() int { return 13 }

// Handles returns nil: the log wants every event.
func (Log) Handles() []string { return nil }

// DDL creates the tables of audit.sql.
func (Log) DDL() string { return logDDL }

// TenantTables are under row-level security; only the platform reads the table people.
func (Log) TenantTables() []string { return []string{"entries", "actors"} }

// RouterWriteAction is the action of entries about writes to routers, which commands do not name.
const RouterWriteAction = "router.write"

// The outcomes of an entry.
const (
	Succeeded = "succeeded"
	Refused   = "refused" // by a rule: the caller lacks the right, or the present state forbids it
	Failed    = "failed"  // by an unexpected error or an outside system
)

// SQL of Apply. A command's events in one stream share an entry; an entry without an address takes that of its request.
const (
	// what a job writes for a person has the address and the id of the request that led to it
	firstSQL = ` from {schema}.entries o where o.correlation_id = @correlation_id and o.ip is not null
		and o.actor_kind = @actor_kind and o.actor_id = @actor_id order by o.position limit 1`
	placeSQL   = `coalesce(@ip, (select o.ip` + firstSQL + `))`
	requestSQL = `coalesce(nullif(@request_id, ''), (select o.request_id` + firstSQL + `), '')`
	entrySQL   = entryOfSQL + placeSQL + entryForSQL + requestSQL + entryEndSQL
	// askedSQL is entrySQL for who has an address and the id of a request: many of these are one statement.
	askedSQL   = entryOfSQL + `@ip` + entryForSQL + `@request_id` + entryEndSQL
	entryOfSQL = `insert into {schema}.entries as e (id, position, last_position, org_id, at, actor_kind, actor_id,
		actor_user, actor_role, ip, action, target_type, target_id, outcome, request_id, correlation_id, reason,
		reason_of, code,
		status, refusals, events)
		values (@id, @position, @position, @org, @at, @actor_kind, @actor_id, @actor_user, @actor_role, `
	entryForSQL = `,
		@action, @target_type, @target_id, @outcome, `
	entryEndSQL = `, @correlation_id, @reason, @reason_of, @code, @status,
		@refusals, array[@event])
		on conflict (id) do update set last_position = excluded.last_position, events = e.events || excluded.events
		where e.last_position < excluded.last_position`
	routerSQL = `insert into {schema}.entries (id, position, last_position, org_id, at, actor_kind, actor_id,
		actor_user, actor_role, ip, action, target_type, target_id, outcome, request_id, correlation_id, reason,
		reason_of, code,
		status, refusals, events, detail)
		values (@id, @position, @position, @org, @at, @actor_kind, @actor_id, @actor_user, @actor_role,
		` + placeSQL + `, @action, @target_type, @target_id, @outcome, ` + requestSQL +
		`, @correlation_id, @reason, @reason_of,
		@code, @status, @refusals, array[@event], @detail) on conflict (id) do nothing`
	actorSQL = `insert into {schema}.actors (org_id, user_id, name)
		select $1, user_id, name from {schema}.people where user_id = $2 on conflict do nothing`
	memberSQL = `insert into {schema}.actors (org_id, user_id, name) values ($1, $2, $3)
		on conflict (org_id, user_id) do update set name = excluded.name`
	personSQL = `insert into {schema}.people (user_id, name) values ($1, $2)
		on conflict (user_id) do update set name = excluded.name`
	renameSQL       = `update {schema}.actors set name = $2 where user_id = $1`
	forgetReasonSQL = `update {schema}.entries set reason = '', reason_of = null where reason_of = $1`
	forgetPlaceSQL  = `update {schema}.entries set ip = null where actor_user = $1 and ip is not null`
)

// Apply queues the statements for one event. Claims and ends of periods are bookkeeping of the bus and have no entry.
func (Log) Apply(w *runner.Writes, e events.Envelope) error {
	category := e.Category()
	if category == "claim" || e.Meta.Action == "bus.ClosePeriod" {
		return nil
	}
	row := entry{
		id:     id.Derive[id.Any]("audit", e.Meta.CommandID.String(), e.Stream),
		action: e.Meta.Action, targetType: category, targetID: e.Meta.AggregateID, outcome: Succeeded,
	}
	switch v := e.Event.(type) {
	case events.RequestRefused:
		row.refused(v)
	case events.RouterWritten:
		return writeRouter(w, e, v, "")
	case events.RouterWriteRefused:
		return writeRouter(w, e, events.RouterWritten{
			RunID: v.RunID, OrgID: v.OrgID, DeviceID: v.DeviceID, ServiceID: v.ServiceID, Step: v.Step, By: v.By,
		}, v.Message)
	case events.SessionChanged:
		if !v.Lapsed {
			e.Meta.CorrelationID = cmp.Or(v.CorrelationID, e.Meta.CorrelationID)
			return writeRouter(w, e, sessionWrite(v.EnforcedSession, v.EnforcementStep, v.Via, v.Found), "")
		}
	case events.SessionChangeRefused:
		e.Meta.CorrelationID = cmp.Or(v.CorrelationID, e.Meta.CorrelationID)
		return writeRouter(w, e, sessionWrite(v.EnforcedSession, v.EnforcementStep, v.Via, false), v.Message)
	case events.AccessRepairWritten:
		e.Meta.CorrelationID = cmp.Or(v.CorrelationID, e.Meta.CorrelationID)
		return writeRouter(w, e, events.RouterWritten{
			OrgID: v.OrgID, DeviceID: v.DeviceID, Step: v.Step, Found: v.Found, By: v.By,
		}, "")
	case events.ReconcileFinished:
		row.ended(v.Outcome)
	case events.ServiceApplyFailed:
		row.ended(outcomeOf(v))
	case events.InvoiceVoided:
		row.targetType, row.targetID = "invoice", id.Any(v.InvoiceID)
	case events.AddressLookedUp:
		if !v.SubscriberID.IsZero() {
			row.targetType, row.targetID = "subscriber", id.Any(v.SubscriberID)
		}
	case events.HistoryRead:
		row.targetType, row.targetID = v.Category, v.TargetID
	case events.CreditNoteDrafted:
		row.targetType, row.targetID = "invoice", id.Any(v.InvoiceID)
	}
	sql := entrySQL
	if plain(e.Meta.IP) != nil && e.Meta.RequestID != "" {
		sql = askedSQL
	}
	w.Exec(sql, row.arguments(e, e.Meta.Actor))
	keepActor(w, e.Meta.OrgID, e.Meta.Actor)
	learnNames(w, e.Event)
	return nil
}

// writeRouter queues one entry for each write to a router; refusal has the router's words when it refused the write,
// else "". The actor is the user who asked for it, with the address of that request, even when a job wrote minutes
// later: the request is found by its correlation id.
func writeRouter(w *runner.Writes, e events.Envelope, v events.RouterWritten, refusal string) error {
	detail, err := json.Marshal(RouterWrite{
		Path: v.Step.Path, Operation: v.Step.Operation, Name: v.Step.Name, Before: v.Step.Before,
		After: v.Step.After, Found: v.Found, ServiceID: v.ServiceID, RunID: v.RunID,
		Message: refusal,
	})
	if err != nil {
		return fmt.Errorf("audit a router's write: %w", err)
	}
	actor := v.By
	if actor.Kind == "" {
		actor = e.Meta.Actor
	}
	row := entry{
		id: id.Derive[id.Any]("audit", e.ID.String()), action: RouterWriteAction, targetType: "device",
		targetID: id.Any(v.DeviceID), outcome: Succeeded,
	}
	if refusal != "" {
		row.ended(events.ReconcileRefused)
	}
	args := row.arguments(e, actor)
	args["detail"] = string(detail)
	w.Exec(routerSQL, args)
	keepActor(w, e.Meta.OrgID, actor)
	return nil
}

// sessionWrite is a change of a customer's session in the form of a write to its router.
func sessionWrite(
	s events.EnforcedSession, step events.EnforcementStep, via events.EnforcementVia, found bool,
) events.RouterWritten {
	grant := func(g events.SessionGrant) map[string]string {
		return map[string]string{
			"access": g.Access, "down": strconv.FormatInt(g.Down, 10), "up": strconv.FormatInt(g.Up, 10),
		}
	}
	return events.RouterWritten{
		OrgID: s.OrgID, DeviceID: s.DeviceID, Found: found, By: step.By,
		Step: events.RouterStep{
			Path: "session/" + string(via), Operation: string(step.Action), Name: step.Of(s).String(),
			Before: grant(step.Before), After: grant(step.After),
		},
	}
}

// keepActor lets an organization see the name of a user who acted in it, if the platform knows the name.
func keepActor(w *runner.Writes, org id.Organization, actor events.Actor) {
	if user := actingUser(actor); !user.IsZero() && !org.IsZero() {
		w.Once(org.String()+user.String(), actorSQL, org, user)
	}
}

// knowPerson keeps a user's name for the platform. Without one until now, keepActor had nothing to keep.
func knowPerson(w *runner.Writes, user id.User, name *string) {
	w.Exec(personSQL, user, name)
	w.Anew()
}

// learnNames keeps the names of users: one for the platform, and one in each organization where the user is a member.
func learnNames(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.UserRegistered:
		knowPerson(w, v.UserID, fullName(v.FirstName, v.LastName))
	case events.MembershipGranted:
		w.Exec(memberSQL, v.OrgID, v.UserID, fullName(v.FirstName, v.LastName))
	case events.MembershipDetailsCorrected:
		w.Exec(memberSQL, v.OrgID, v.UserID, fullName(v.FirstName, v.LastName))
	case events.UserDetailsCorrected:
		knowPerson(w, v.UserID, fullName(v.FirstName, v.LastName))
		w.Exec(renameSQL, v.UserID, fullName(v.FirstName, v.LastName))
	case events.UserForgotten: // entries stay, the person's name and addresses go
		var none *string
		knowPerson(w, v.UserID, none)
		w.Exec(renameSQL, v.UserID, none)
		w.Exec(forgetPlaceSQL, v.UserID)
		w.Exec(forgetReasonSQL, v.UserID)
	case events.SubscriberForgotten:
		w.Exec(forgetReasonSQL, v.SubscriberID)
	}
}

// entry has the columns that do not come from the metadata alone.
type entry struct {
	id         id.Any
	action     string
	targetType string
	targetID   id.Any
	outcome    string
	code       string // of a refusal
	status     int    // of a refusal, else 0
	refusals   int    // that the entry stands for
}

// refused turns the entry into one of a request that wrote nothing: the action is its method and route, the target the
// id in its path.
func (r *entry) refused(e events.RequestRefused) {
	r.action, r.targetID, r.outcome, r.code, r.status = e.Method+" "+e.Route, e.TargetID, Refused, e.Code, e.Status
	r.refusals = e.Count
	r.targetType, _, _ = strings.Cut(strings.TrimPrefix(e.Route, "/"), "/")
	if e.Status >= http.StatusInternalServerError {
		r.outcome = Failed
	}
}

// ended turns the entry into one of work on a router that did not succeed; a done outcome changes nothing.
func (r *entry) ended(outcome events.ReconcileOutcome) {
	switch outcome {
	case events.ReconcileDone:
	case events.ReconcileRefused:
		r.outcome, r.code = Refused, "router_refused"
	case events.ReconcileUnreachable:
		r.outcome, r.code = Failed, "device_unreachable"
	case events.ReconcileUnstable:
		r.outcome, r.code = Failed, "router_changed"
	}
}

// outcomeOf is the outcome of work on one service that failed.
func outcomeOf(e events.ServiceApplyFailed) events.ReconcileOutcome {
	if e.Refused {
		return events.ReconcileRefused
	}
	return events.ReconcileUnreachable
}

// arguments are those of entrySQL. The actor can differ from the one in the metadata: a job writes for the user who
// asked.
func (r *entry) arguments(e events.Envelope, actor events.Actor) pgx.NamedArgs {
	m := e.Meta
	return pgx.NamedArgs{
		"id": r.id, "position": int64(e.Position), "org": m.OrgID, "at": m.At, //nolint:gosec // positions fit
		"actor_kind": string(actor.Kind), "actor_id": actor.ID, "actor_user": actingUser(actor),
		"actor_role": actor.Role, "ip": plain(m.IP), "action": r.action, "target_type": r.targetType,
		"target_id": r.targetID, "outcome": r.outcome, "request_id": m.RequestID, "correlation_id": m.CorrelationID,
		"reason": m.Why(), "reason_of": m.SaidOf, "code": r.code, "status": r.status, "refusals": r.refusals,
		"event": e.Type,
	}
}

// fullName joins both names, nil when both are empty or forgotten.
func fullName(first, last personal.Text) *string {
	if text := strings.TrimSpace(first.Reveal() + " " + last.Reveal()); text != "" {
		return &text
	}
	return nil
}

// plain reveals a personal text, nil when it is empty or forgotten.
func plain(t personal.Text) *string {
	if text := t.Reveal(); text != "" {
		return &text
	}
	return nil
}

// actingUser is the user behind an actor, zero when the actor is a process, a provider or another program.
func actingUser(a events.Actor) id.User {
	if a.Kind != events.ActorUser {
		return id.User{}
	}
	user, err := id.Parse[id.User](a.ID)
	if err != nil {
		return id.User{}
	}
	return user
}
