// Package auditviews has the read model of the audit log: who did what, when, from where, to which target, with what
// outcome. It is made of event metadata alone; nothing writes a row by hand.
package auditviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// LogName is the projection's durable name.
const LogName = "audit_log"

// Log has one entry for each command and stream that it wrote, and one for each write that was refused.
type Log struct{}

//go:embed audit.sql
var logDDL string

// Name is the durable name.
func (Log) Name() string { return LogName }

// Version is raised when tables or Apply change.
func (Log) Version() int { return 3 }

// Handles is every event.
func (Log) Handles() []string { return nil }

// DDL creates the tables.
func (Log) DDL() string { return logDDL }

// TenantTables are under row-level security; people is the platform's alone.
func (Log) TenantTables() []string { return []string{"entries", "actors"} }

// RouterWriteAction is the action of entries about writes to routers.
const RouterWriteAction = "router.write"

// The outcomes.
const (
	Succeeded = "succeeded"
	Refused   = "refused" // by a rule: the caller may not, or the present state does not allow it
	Failed    = "failed"  // by an unexpected failure or an outside system
)

// SQL of Apply.
const (
	entrySQL = `insert into {schema}.entries as e (id, position, last_position, org_id, at, actor_kind, actor_id, actor_user, actor_role, ip,
		action, target_type, target_id, outcome, request_id, correlation_id, reason, code, status, events)
		values ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		on conflict (id) do update set last_position = excluded.last_position, events = e.events || excluded.events
		where e.last_position < excluded.last_position`
	routerSQL = `insert into {schema}.entries (id, position, last_position, org_id, at, actor_kind, actor_id, actor_user, actor_role, ip,
		action, target_type, target_id, outcome, request_id, correlation_id, reason, code, status, events, detail)
		values ($1, $2, $2, $3, $4, $5, $6, $7, $8, coalesce($9, (select o.ip from {schema}.entries o
			where o.correlation_id = $15 and o.ip is not null and o.actor_user is not distinct from $7 order by o.position limit 1)),
			$10, $11, $12, $13, $14, $15, $16, '', 0, $17, $18) on conflict (id) do nothing`
	actorSQL = `insert into {schema}.actors (org_id, user_id, name) select $1, user_id, name from {schema}.people where user_id = $2
		on conflict do nothing`
	memberSQL = `insert into {schema}.actors (org_id, user_id, name) values ($1, $2, $3)
		on conflict (org_id, user_id) do update set name = excluded.name`
	personSQL      = `insert into {schema}.people (user_id, name) values ($1, $2) on conflict (user_id) do update set name = excluded.name`
	renameSQL      = `update {schema}.actors set name = $2 where user_id = $1`
	forgetPlaceSQL = `update {schema}.entries set ip = null where actor_user = $1 and ip is not null`
)

// Apply queues the statements for one event. Bookkeeping of the bus (claims, ends of periods) is nobody's act.
func (Log) Apply(w *runner.Writes, e events.Envelope) error {
	category := e.Category()
	if category == "claim" || e.Meta.Action == "bus.ClosePeriod" {
		return nil
	}
	row := entry{
		action: e.Meta.Action, targetType: category, targetID: e.Meta.AggregateID, outcome: Succeeded,
	}
	switch v := e.Event.(type) {
	case events.RequestRefused:
		row = refusal(v)
	case events.RouterWritten:
		return writeRouter(w, e, v)
	}
	write(w, e, row)
	learnNames(w, e.Event)
	return nil
}

// write queues the entry and keeps the name of who acted.
func write(w *runner.Writes, e events.Envelope, row entry) {
	m := e.Meta
	user := actingUser(m.Actor)
	w.Exec(entrySQL, id.Derive[id.Any]("audit", m.CommandID.String(), e.Stream), int64(e.Position), m.OrgID, m.At,
		string(m.Actor.Kind), m.Actor.ID,
		user, m.Actor.Role, plain(m.IP), row.action, row.targetType, row.targetID, row.outcome, m.RequestID,
		m.CorrelationID, m.Reason, row.code,
		row.status, []string{e.Type})
	if !user.IsZero() && !m.OrgID.IsZero() {
		w.Exec(actorSQL, m.OrgID, user)
	}
}

// writeRouter queues the entry of one write to a router: one for each, however many a command recorded. Who asked
// acted, and from the address of that request, also when a job wrote minutes later: it is found by the correlation.
func writeRouter(w *runner.Writes, e events.Envelope, v events.RouterWritten) error {
	detail, err := json.Marshal(RouterWrite{
		Path: v.Step.Path, Operation: v.Step.Operation, Name: v.Step.Name, Before: v.Step.Before,
		After: v.Step.After, Found: v.Found, ServiceID: v.ServiceID, RunID: v.RunID,
	})
	if err != nil {
		return fmt.Errorf("audit a router's write: %w", err)
	}
	m, actor := e.Meta, v.By
	if actor.Kind == "" {
		actor = m.Actor
	}
	user := actingUser(actor)
	//nolint:gosec // fits
	w.Exec(routerSQL, id.Derive[id.Any]("audit", e.ID.String()), int64(e.Position), m.OrgID, m.At, string(actor.Kind),
		actor.ID, user, actor.Role,
		plain(m.IP), RouterWriteAction, "device", v.DeviceID, Succeeded, m.RequestID, m.CorrelationID, m.Reason,
		[]string{e.Type}, string(detail))
	if !user.IsZero() && !m.OrgID.IsZero() {
		w.Exec(actorSQL, m.OrgID, user)
	}
	return nil
}

// learnNames keeps the names of people who can sign in: the platform's, and the one that each organization knows.
func learnNames(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.UserRegistered:
		w.Exec(personSQL, v.UserID, fullName(v.FirstName, v.LastName))
	case events.MembershipGranted:
		w.Exec(memberSQL, v.OrgID, v.UserID, fullName(v.FirstName, v.LastName))
	case events.MembershipDetailsCorrected:
		w.Exec(memberSQL, v.OrgID, v.UserID, fullName(v.FirstName, v.LastName))
	case events.UserDetailsCorrected:
		w.Exec(personSQL, v.UserID, fullName(v.FirstName, v.LastName))
		w.Exec(renameSQL, v.UserID, fullName(v.FirstName, v.LastName))
	case events.UserForgotten: // what was done stays, who it was does not
		var none *string
		w.Exec(personSQL, v.UserID, none)
		w.Exec(renameSQL, v.UserID, none)
		w.Exec(forgetPlaceSQL, v.UserID)
	}
}

// entry is what an event says beyond its metadata.
type entry struct {
	action     string
	targetType string
	targetID   id.Any
	outcome    string
	code       string
	status     int
}

// refusal is the entry of a write that did not happen: its action is the request, its target what the path named.
func refusal(e events.RequestRefused) entry {
	out := entry{
		action: e.Method + " " + e.Route, targetID: e.TargetID, outcome: Refused, code: e.Code, status: e.Status,
	}
	out.targetType, _, _ = strings.Cut(strings.TrimPrefix(e.Route, "/"), "/")
	if e.Status >= http.StatusInternalServerError {
		out.outcome = Failed
	}
	return out
}

// fullName is a person's name, nil when there is none any more.
func fullName(first, last personal.Text) *string {
	if text := strings.TrimSpace(first.Reveal() + " " + last.Reveal()); text != "" {
		return &text
	}
	return nil
}

// plain is a personal text, nil when there is none any more.
func plain(t personal.Text) *string {
	if text := t.Reveal(); text != "" {
		return &text
	}
	return nil
}

// actingUser is the user behind an actor, zero when it is something else.
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
