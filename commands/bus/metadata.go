package bus

import (
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// checkMeta refuses a command without an id, and one without an organization from somebody who has only theirs.
func checkMeta(m commands.Meta) error {
	if m.CommandID.IsZero() {
		return failure.NewMalformed("command_id_required", "The command has no id.")
	}
	if m.OrgID.IsZero() && !actsForPlatform(m.Actor) {
		return failure.NewDenied("organization_required", "This needs an organization.")
	}
	return nil
}

// actsForPlatform tells who may act on behalf of no organization, and so on every one's.
func actsForPlatform(a events.Actor) bool {
	switch a.Kind {
	case events.ActorProcess, events.ActorProvider, events.ActorOperator:
		return true
	case events.ActorUser, events.ActorAPIKey, events.ActorPublic:
	}
	return events.Role(a.Role) == events.RoleSuperAdmin
}

// metadata is what all events of an execution have in common. What the platform does to an organization's aggregate
// belongs to that organization.
func (x *execution) metadata(owner id.Organization, now time.Time) events.Metadata {
	m := events.Metadata{
		CommandID: x.meta.CommandID, AggregateID: x.cmd.Target().ID, Action: x.cmd.CommandName(),
		OrgID: x.meta.OrgID, Actor: x.meta.Actor, IP: personal.Of(x.meta.IP), RequestID: x.meta.RequestID,
		CorrelationID: x.meta.CorrelationID, CausationID: x.meta.CausationID, Reason: x.meta.Reason, At: now,
	}
	if m.OrgID.IsZero() {
		m.OrgID = owner
	}
	if m.CorrelationID == "" {
		m.CorrelationID = x.meta.CommandID.String()
	}
	return m
}

// drafts gives events their ids, derived from the command's so that a repeated append is known as one.
func drafts[E events.Event](list []E, meta events.Metadata) []eventstore.New {
	out := make([]eventstore.New, len(list))
	for i, e := range list {
		meta.EventID = id.Derive[id.Event]("event", meta.CommandID.String(), strconv.Itoa(i))
		out[i] = eventstore.New{Event: e, Meta: meta}
	}
	return out
}
