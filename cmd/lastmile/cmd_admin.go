package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Length of an administrator's password in characters.
const (
	minAdminPassword = 8
	maxAdminPassword = 128
)

// adminCommands are `lastmile admin ...`.
type adminCommands struct {
	Create adminCreate `cmd:"" help:"Create a super_admin. Works while serve runs or not."`
}

// adminCreate is `lastmile admin create`.
type adminCreate struct {
	Email     string `required:"" help:"E-mail address to sign in with."`
	Password  string `required:"" help:"Password, 8 to 128 characters."`
	FirstName string `default:"Platform" help:"First name."`
	LastName  string `default:"Administrator" help:"Last name."`
}

// Run makes the user with what a running program has started, or starts what it needs and stops it again.
func (c adminCreate) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	s, err := openStorage(ctx, cfg, clock.System(), l, storageMode{node: true, attach: true})
	if err != nil {
		return err
	}
	user := superAdmin{
		ID: id.Derive[id.User]("user", id.New[id.Any]().String()), Email: c.Email, Password: secrets.Text(c.Password),
		FirstName: c.FirstName, LastName: c.LastName,
	}
	if err := user.create(ctx, openBus(s, clock.System(), l.logger), s.vault); err != nil {
		if failure.CodeOf(err) == "email_taken" {
			return fmt.Errorf("a user with the e-mail address %s exists already", c.Email)
		}
		return err
	}
	_, err = fmt.Fprintf(p.out, "super_admin %s created; sign in at the root host %s\n",
		commands.NormalizeEmail(c.Email), cfg.ServiceDomain)
	return err
}

// quiet logs only what is wrong: the output of short commands is for people.
func quiet(p program, cfg Config) *slog.Logger {
	if cfg.LogLevel == "debug" {
		return p.logger(cfg)
	}
	return slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: slog.LevelError}))
}

// superAdmin is a platform administrator to be made.
type superAdmin struct {
	ID                  id.User
	Email               string
	Password            secrets.Text
	FirstName, LastName string
}

// create sets the password first: a user without one could not sign in, a password without a user is nobody's.
func (u superAdmin) create(ctx context.Context, b *bus.Bus, v *vault.Vault) error {
	register := commands.RegisterUser{
		UserID: u.ID, Email: personal.Of(commands.NormalizeEmail(u.Email)), FirstName: personal.Of(u.FirstName),
		LastName: personal.Of(u.LastName), SuperAdmin: true, Role: events.RoleSuperAdmin,
	}
	if err := register.Validate(); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(u.Password.Reveal()); n < minAdminPassword || n > maxAdminPassword {
		return fmt.Errorf("the password must have %d to %d characters", minAdminPassword, maxAdminPassword)
	}
	if err := v.Passwords.Set(ctx, u.ID, u.Password); err != nil {
		return err
	}
	meta := commands.Meta{
		CommandID: id.Derive[id.Command]("admin create", u.ID.String()), Actor: events.Actor{
			Kind: events.ActorOperator, ID: "admin create",
		},
	}
	_, err := b.Execute(ctx, register, meta)
	if err != nil && failure.CodeOf(err) != "user_exists" { // then the password is an existing user's
		err = errors.Join(err, v.Passwords.Delete(ctx, u.ID))
	}
	return err
}
