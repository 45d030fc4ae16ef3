// Package identitycases serves organizations and their people where that takes more than one step: an organization with
// its first administrator, a new member of the staff, a sign-in, a change of the own password, settings. Passwords and
// refresh tokens are in the vault, everything else is in the log.
package identitycases

import (
	"context"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Config has the dependencies of all use cases of the area. All of them are required.
type Config struct {
	Bus   *bus.Bus
	Vault *vault.Vault
	Users identityviews.UsersQuery
	// Directory decides at every request who may enter; DirectoryShows waits until it has a position of the log.
	Directory      *identityviews.Directory
	DirectoryShows *runner.Memory
	Access         *identityviews.Access                     // whether the directory may be asked
	Head           func(ctx context.Context) (uint64, error) // gives the newest position of the log
	// PrefixOpen reports whether an invoice with a prefix of an organization still waits for money, or for its number.
	PrefixOpen func(ctx context.Context, org id.Organization, prefix string) (bool, error)
	KeyForm    apikeys.Form // of this installation
	Locks      *postgres.DB
	Clock      clock.Clock // judges temporary passwords
	Logger     *slog.Logger
}

// Cases has the use cases of the area, ready for use.
type Cases struct {
	SignIns       SignIns
	OwnPassword   OwnPassword
	Staff         Staff
	Organizations Organizations
	Settings      Settings
	Persons       Persons
	Codes         Codes // without Enqueue, Send and Host, which the program adds
	Upgrade       Upgrade
	Sessions      Sessions
	APIKeys       APIKeys
	Portal        Portal
	SecondFactors SecondFactors
}

// New makes the use cases, each with the dependencies that it needs.
func New(cfg Config) Cases {
	sessions := Sessions{
		Bus: cfg.Bus, Refresh: cfg.Vault.RefreshTokens, DirectoryShows: cfg.DirectoryShows, Logger: cfg.Logger,
	}
	staff := Staff{
		Registrations: Registrations{Bus: cfg.Bus, Passwords: cfg.Vault.Passwords}, Users: cfg.Users,
		Sessions: sessions, Lockouts: cfg.Vault.Lockouts,
	}
	signIns := SignIns{
		Sessions: sessions, Users: cfg.Users, Directory: cfg.Directory, Access: cfg.Access, Head: cfg.Head,
		Passwords: cfg.Vault.Passwords, Lockouts: cfg.Vault.Lockouts,
		Factors: cfg.Vault.SecondFactors, Clock: cfg.Clock,
	}
	persons := Persons{SignIns: signIns, Passwords: cfg.Vault.Passwords}
	return Cases{
		SignIns: signIns,
		Codes: Codes{
			SignIns: signIns, Persons: persons, Vault: cfg.Vault.Codes, Limits: cfg.Vault.Limits,
			Offers: cfg.Vault.Offers,
		},
		OwnPassword: OwnPassword{
			Sessions: sessions, Users: cfg.Users, Passwords: cfg.Vault.Passwords, Lockouts: cfg.Vault.Lockouts,
		},
		Staff: staff, Organizations: Organizations{Bus: cfg.Bus, Staff: staff},
		Settings: Settings{
			Bus: cfg.Bus, Organizations: identityviews.OrganizationsQuery{Views: cfg.Users.Views},
			PrefixOpen: cfg.PrefixOpen,
		},
		Persons: persons, Sessions: sessions, Portal: Portal{SignIns: signIns},
		SecondFactors: SecondFactors{SignIns: signIns, Vault: cfg.Vault.SecondFactors, Limits: cfg.Vault.Limits},
		APIKeys: APIKeys{
			Bus: cfg.Bus, Secrets: cfg.Vault.APIKeys, Form: cfg.KeyForm, Directory: cfg.Directory,
			DirectoryShows: cfg.DirectoryShows, Head: cfg.Head, Locks: cfg.Locks,
		},
		Upgrade: Upgrade{
			Bus: cfg.Bus, Directory: cfg.Directory, DirectoryShows: cfg.DirectoryShows, Head: cfg.Head,
			Logger: cfg.Logger,
		},
	}
}
