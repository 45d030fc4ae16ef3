package main

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/identity"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/identity/claims"
	"github.com/lastmile-isp/lastmile/processmanagers/identity/portal"
	"github.com/lastmile-isp/lastmile/processmanagers/identity/usererasing"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// identityArea gives organizations, users, sessions and API keys.
func identityArea() area {
	return area{
		aggregates: registerIdentity,
		readModels: []runner.Projection{
			identityviews.Organizations{}, identityviews.Users{}, identityviews.Letterheads{}, identityviews.APIKeys{},
		},
		processes: []processmanagers.Any{claims.Process(), portal.Process(), usererasing.Process()},
		wire:      (*App).wireIdentity,
	}
}

// registerIdentity adds organizations, users, sessions and API keys.
func registerIdentity(b *bus.Bus) {
	bus.Register(b, identity.Organizations())
	bus.Register(b, identity.Users())
	bus.Register(b, identity.Sessions())
	bus.Register(b, identity.APIKeys())
}

// identityCases makes the use cases of organizations and their users.
func (a *App) identityCases() identitycases.Cases {
	e := a.engines
	return identitycases.New(identitycases.Config{
		Bus: e.bus, Vault: a.storage.vault, Users: identityviews.UsersQuery{Views: e.views}, Directory: e.directory,
		DirectoryShows: e.shows, Access: e.access, Head: a.storage.store.Head,
		PrefixOpen: billingviews.PrefixesQuery{Views: e.views, Head: a.storage.store.Head}.Open, Clock: a.clock,
		KeyForm: apikeys.FormOf(a.cfg.Production()), Locks: a.storage.db, Logger: a.logger,
	})
}

// keys makes the part that checks API keys.
func (a *App) keys() identityapi.Keys {
	return identityapi.Keys{
		Form: apikeys.FormOf(a.cfg.Production()), Directory: a.engines.directory, Access: a.engines.access,
		Secrets: a.storage.vault.APIKeys, Uses: a.keyUses, Clock: a.clock,
	}
}

// startKeyUses begins to note when API keys are used, and brings the secrets into memory that the vault has. Those that
// cannot be read now are read at their first use.
func (a *App) startKeyUses(ctx context.Context) error {
	if err := a.storage.vault.APIKeys.Warm(ctx); err != nil {
		a.logger.WarnContext(ctx, "API keys are read at their first use", "error", err)
	}
	a.keyUses = identityapi.NewKeyUses(a.storage.vault.APIKeys, a.clock, a.logger)
	return a.life.start(ctx, "uses of API keys", stopStorage, a.keyUses)
}

// tokens makes the part that issues and checks access tokens.
func (a *App) tokens() identityapi.Tokens {
	return identityapi.Tokens{
		Key: signingKey(a.cfg, a.storage.vault), Directory: a.engines.directory, Access: a.engines.access,
		Clock: a.clock, Proofs: identityapi.NewProofs(), PlatformNeedsFactor: a.cfg.RequireSecondFactor,
	}
}

// How often invoice prefixes of before are given up whose invoices are all settled, and how often the ends of sessions
// are recorded that a stop has left unrecorded: until then their access tokens pass, for as long as they live.
const (
	settledPrefixes = 24 * time.Hour
	sessionEnds     = time.Minute
)

// wireIdentity brings what older versions recorded under the present rules, registers the repeated work, and makes
// the endpoints of organizations, users and signing in.
func (a *App) wireIdentity(ctx context.Context) ([][]httpapi.Route, error) {
	e, cases := a.engines, a.identityCases()
	upgrade := newIdentityUpgrade(cases.Upgrade, e.access, a.logger)
	if err := a.life.startBeside(ctx, "upgrade of users", stopEngines, upgrade); err != nil {
		return nil, err
	}
	jobrunner.AddWorker(e.jobs,
		func(ctx context.Context, _ commands.ReleaseSettledPrefixes, _ jobs.Cause) error {
			return cases.Settings.ReleaseSettled(ctx, a.clock.Now())
		}, jobrunner.Options{})
	jobrunner.Every(e.jobs, settledPrefixes, commands.ReleaseSettledPrefixes{})
	jobrunner.AddWorker(e.jobs,
		func(ctx context.Context, _ commands.RecordSessionEnds, _ jobs.Cause) error {
			return cases.Sessions.RecordEnds(ctx, a.clock.Now())
		}, jobrunner.Options{Backoff: jobrunner.Doubling(time.Second, sessionEnds)})
	jobrunner.Every(e.jobs, sessionEnds, commands.RecordSessionEnds{})
	codes := a.wireCodes(cases.Codes)
	if err := a.startKeyUses(ctx); err != nil {
		return nil, err
	}
	organizations, users := identityviews.OrganizationsQuery{Views: e.views}, identityviews.UsersQuery{Views: e.views}
	auth := identityapi.Auth{
		SignIns: cases.SignIns, Password: cases.OwnPassword, Users: users, Tokens: a.tokens(),
	}
	factors := identityapi.SecondFactors{Auth: auth, Cases: cases.SecondFactors, Platform: a.cfg.ServiceDomain}
	return [][]httpapi.Route{
		auth.Routes(), factors.Routes(),
		identityapi.Codes{Auth: auth, Codes: codes, Organizations: organizations}.Routes(),
		identityapi.Organizations{
			Bus: e.bus, Cases: cases.Organizations, Organizations: organizations, DirectoryShows: e.shows,
			Subscribers: subscribersviews.SubscribersQuery{Views: e.views}.CountOf, Staff: users.Summary,
			Routers: networkviews.DevicesQuery{Views: e.views}.Count,
		}.Routes(),
		identityapi.Users{
			Staff: cases.Staff, Factors: cases.SecondFactors, Users: users, DirectoryShows: e.shows,
		}.Routes(),
		identityapi.Portal{Cases: cases.Portal, Users: users, Known: a.subscriberKnown}.Routes(),
		identityapi.Settings{Cases: cases.Settings, Organizations: organizations, DirectoryShows: e.shows}.Routes(),
		identityapi.APIKeys{
			Cases: cases.APIKeys, Keys: identityviews.APIKeysQuery{Views: e.views}, Users: users,
			Directory: e.directory, Uses: a.keyUses, Clock: a.clock,
		}.Routes(),
	}, nil
}
