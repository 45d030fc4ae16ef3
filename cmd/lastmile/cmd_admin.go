package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// adminCommands has the sub-commands of `lastmile admin`.
type adminCommands struct {
	Create adminCreate `cmd:"" help:"Create a super_admin. Works while serve runs or not."`

	RemoveSecondFactor adminRemoveFactor `cmd:"" help:"Take off a lost second factor of a super_admin."`
}

// adminCreate is `lastmile admin create`, the only way to the first super_admin.
type adminCreate struct {
	Email string `required:"" help:"E-mail address to sign in with."`
	// Password is seen by everybody on the machine, in the list of processes and in the history of the shell.
	Password  string `help:"Password. Leave it out: it is then asked for, or read from the standard input."`
	FirstName string `default:"Platform" help:"First name."`
	LastName  string `default:"Administrator" help:"Last name."`
}

// Run makes the user. It uses the database and the log of a running program, or starts them and stops them again.
func (c adminCreate) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	password, err := c.password(ctx, p)
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	now := productClock(cfg)
	s, err := openStorage(ctx, cfg, now, l, storageMode{node: true, attach: true})
	if err != nil {
		return err
	}
	err = addSuperAdmin(ctx, openBus(s, now, l.logger), s.vault, identitycases.SuperAdmin{
		UserID: id.Derive[id.User]("user", id.New[id.Any]().String()), Email: personal.Of(c.Email),
		FirstName: personal.Of(c.FirstName), LastName: personal.Of(c.LastName), Password: password,
	})
	if err != nil {
		if failure.CodeOf(err) == "email_taken" {
			return fmt.Errorf("a user with the e-mail address %s exists already", c.Email)
		}
		return err
	}
	_, err = fmt.Fprintf(p.out, "super_admin %s created; sign in at the root host %s\n",
		commands.NormalizeEmail(c.Email), cfg.ServiceDomain)
	return err
}

// quiet logs warnings and errors only: the output of short commands is for people.
func quiet(p program, cfg Config) *slog.Logger {
	if cfg.LogLevel == "debug" {
		return p.logger(cfg)
	}
	return slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: slog.LevelError}))
}

// addSuperAdmin makes a super_admin; the actor of the events is the person who runs the program. A second try finds the
// user of the first one by its id.
func addSuperAdmin(ctx context.Context, b *bus.Bus, v *vault.Vault, in identitycases.SuperAdmin) error {
	asked := usecases.Asked{Keyed: true, Meta: commands.Meta{
		CommandID: id.Derive[id.Command]("admin create", in.UserID.String()),
		Actor:     events.Actor{Kind: events.ActorOperator, ID: "admin create"},
	}}
	_, err := identitycases.Registrations{Bus: b, Passwords: v.Passwords}.AddSuperAdmin(ctx, asked, in)
	return err
}
