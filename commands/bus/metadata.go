package bus

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// checkMeta refuses a command without an id, a command of which nobody could tell who acted, and a command without an
// organization from an actor who does not act for the platform.
func checkMeta(what string, m commands.Meta) error {
	if m.CommandID.IsZero() {
		return failure.NewMalformed("command_id_required", "The command has no id. Send one.")
	}
	if m.Actor.Kind == "" {
		return fmt.Errorf("%s %s has no actor", what, m.CommandID)
	}
	if m.OrgID.IsZero() && !actsForPlatform(m.Actor) {
		return failure.NewDenied("organization_required",
			"This needs an organization. Use the address of the organization.")
	}
	return nil
}

// actsForPlatform reports whether the actor may send commands without an organization, which reach the aggregates of
// all organizations.
func actsForPlatform(a events.Actor) bool {
	switch a.Kind {
	case events.ActorProcess, events.ActorProvider, events.ActorOperator:
		return true
	case events.ActorUser, events.ActorAPIKey, events.ActorPublic:
	}
	return events.Role(a.Role) == events.RoleSuperAdmin
}

// metadata is the part that all events of an execution share. A command of the platform is recorded under the
// organization that owns the aggregate.
func (x *execution) metadata(owner id.Organization, now time.Time) events.Metadata {
	m := events.Metadata{
		CommandID: x.meta.CommandID, AggregateID: x.cmd.Target().ID, Action: x.cmd.CommandName(),
		OrgID: x.meta.OrgID, Actor: x.meta.Actor, IP: personal.Of(x.meta.IP), RequestID: x.meta.RequestID,
		CorrelationID: x.meta.CorrelationID, CausationID: x.meta.CausationID, At: now,
	}
	switch m.Actor.Kind {
	case events.ActorProcess, events.ActorProvider:
		m.Reason = x.meta.Reason
	case events.ActorUser, events.ActorAPIKey, events.ActorOperator, events.ActorPublic:
		m.Said = personal.Of(x.meta.Reason)
	}
	if m.OrgID.IsZero() {
		m.OrgID = owner
	}
	if m.CorrelationID == "" {
		m.CorrelationID = x.meta.CommandID.String()
	}
	return m
}

// drafts gives each event an id derived from the execution of the command and its index, so that a repeated append is
// recognized. Two executions of one command have different ids: the store must not take the second for a repeat of the
// first, because then both would be told that they changed something.
func drafts[E events.Event](list []E, meta events.Metadata, nonce string) []eventstore.New {
	out := make([]eventstore.New, len(list))
	if !meta.Said.IsZero() {
		meta.SaidOf = id.Any(saidOf(list, meta))
	}
	for i, e := range list {
		meta.EventID = id.Derive[id.Event]("event", meta.CommandID.String(), nonce, strconv.Itoa(i))
		out[i] = eventstore.New{Event: e, Meta: meta}
	}
	return out
}

// saidOf is the person whom the reason of an execution is about: that of its first event with personal fields, else the
// actor. All events of an append have the same, so that a reason is erased from all of them at once.
func saidOf[E events.Event](list []E, meta events.Metadata) uuid.UUID {
	for _, e := range list {
		if about, ok := any(e).(events.AboutPerson); ok {
			return about.PersonalSubject()
		}
	}
	return meta.IPSubject()
}
