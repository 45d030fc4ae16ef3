package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// Categories of the area's streams.
const (
	organizationCategory = "organization"
	userCategory         = "user"
	sessionCategory      = "session"
)

// registerIdentity adds organizations, users and sessions.
func registerIdentity(b *bus.Bus) {
	bus.Register(b, identity.Organizations())
	bus.Register(b, identity.Users())
	bus.Register(b, identity.Sessions())
}

// registerAudit adds what remembers refused writes.
func registerAudit(b *bus.Bus) {
	bus.Register(b, audit.Refusals())
}
