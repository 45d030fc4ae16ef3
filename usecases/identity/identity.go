// Package identitycases serves organizations and their people where it takes more than one step: an organization with
// its first administrator, somebody for the staff, a sign-in, a password of one's own, settings. Passwords and refresh
// tokens are in the vault, everything else is in the log.
package identitycases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Config has everything that the use cases of the area stand on.
type Config struct {
	Bus   *bus.Bus
	Vault *vault.Vault
	Users identityviews.UsersQuery
	// Every request asks Directory who may enter; DirectoryShows waits until it has a position.
	Directory      *identityviews.Directory
	DirectoryShows *runner.Memory
	Head           func(ctx context.Context) (uint64, error) // newest position of the log
}

// Cases are the use cases of the area.
type Cases struct {
	SignIns       SignIns
	OwnPassword   OwnPassword
	Staff         Staff
	Organizations Organizations
	Settings      Settings
}

// New gives each use case its part.
func New(cfg Config) Cases {
	sessions := Sessions{Bus: cfg.Bus, Refresh: cfg.Vault.RefreshTokens, DirectoryShows: cfg.DirectoryShows}
	staff := Staff{
		Registrations: Registrations{Bus: cfg.Bus, Passwords: cfg.Vault.Passwords}, Sessions: sessions,
		Users: cfg.Users,
	}
	return Cases{
		SignIns: SignIns{
			Sessions: sessions, Users: cfg.Users, Directory: cfg.Directory, Head: cfg.Head,
			Passwords: cfg.Vault.Passwords, Lockouts: cfg.Vault.Lockouts,
		},
		OwnPassword: OwnPassword{
			Sessions: sessions, Users: cfg.Users, Passwords: cfg.Vault.Passwords, Lockouts: cfg.Vault.Lockouts,
		},
		Staff: staff, Organizations: Organizations{Bus: cfg.Bus, Staff: staff}, Settings: Settings{Bus: cfg.Bus},
	}
}
