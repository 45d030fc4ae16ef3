package main

import (
	auditrules "github.com/lastmile-isp/lastmile/aggregates/audit"
	rules "github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
)

// Categories of the area's streams.
const (
	organizationCategory = "organization"
	userCategory         = "user"
	sessionCategory      = "session"
)

// registerIdentity adds organizations, users and sessions.
func registerIdentity(b *bus.Bus) {
	bus.Register(b, bus.Aggregate[rules.Organization, commands.OrganizationCommand, events.OrganizationEvent]{
		Category: organizationCategory, Evolve: rules.EvolveOrganization, Decide: rules.DecideOrganization,
		Owner: rules.OwnerOrganization, Claims: rules.ClaimsOrganization,
	})
	bus.Register(b, bus.Aggregate[rules.User, commands.UserCommand, events.UserEvent]{
		Category: userCategory, Evolve: rules.EvolveUser, Decide: rules.DecideUser, Owner: rules.OwnerUser, Claims: rules.ClaimsUser,
	})
	bus.Register(b, bus.Aggregate[rules.Session, commands.SessionCommand, events.SessionEvent]{
		Category: sessionCategory, Evolve: rules.EvolveSession, Decide: rules.DecideSession, Owner: rules.OwnerSession,
	})
}

// registerAudit adds what remembers refused writes.
func registerAudit(b *bus.Bus) {
	bus.Register(b, bus.Aggregate[auditrules.Refusal, commands.RefusalCommand, events.RefusalEvent]{
		Category: "refusal", Evolve: auditrules.EvolveRefusal, Decide: auditrules.DecideRefusal, Owner: auditrules.OwnerRefusal,
	})
}
