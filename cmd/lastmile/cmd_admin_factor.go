package main

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// adminRemoveFactor is `lastmile admin remove-second-factor`, for an administrator of the platform who has lost the
// device and the recovery codes (docs/rules/identity.md#lost-devices).
type adminRemoveFactor struct {
	Email  string `required:"" help:"E-mail address of the super_admin."`
	Reason string `required:"" help:"Why, for the audit log."`
}

// Run takes the second factor off and ends all sessions of the person. It works while serve runs or not.
func (c adminRemoveFactor) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
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
	f, err := startFeed(ctx, s, l)
	if err != nil {
		return err
	}
	r := newProjections(s, f, now, l.logger, true)
	if err := l.start(ctx, "projections", stopEngines, r); err != nil {
		return err
	}
	users, err := identityviews.UsersQuery{Views: r.Views()}.OfAddress(ctx, commands.NormalizeEmail(c.Email))
	if err != nil {
		return err
	}
	if len(users) == 0 || !users[0].SuperAdmin {
		return fmt.Errorf("no super_admin has the e-mail address %s", c.Email)
	}
	if err := removeFactor(ctx, openBus(s, now, l.logger), s.vault, users[0].ID, c.Reason); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s signs in without a second factor until another one is set up\n",
		commands.NormalizeEmail(c.Email))
	return err
}

// removeFactor takes off the second factor of an administrator of the platform. The job of a running program records
// the ends of the sessions.
func removeFactor(ctx context.Context, b *bus.Bus, v *vault.Vault, user id.User, reason string) error {
	state, _, err := bus.LoadUnchecked[identity.User](ctx, b, user)
	if err != nil {
		return err
	}
	remove := commands.RemoveLostSecondFactor{UserID: user, Reason: reason}
	_, err = b.Execute(ctx, remove, commands.Meta{
		CommandID: id.New[id.Command](), Reason: reason,
		Actor: events.Actor{Kind: events.ActorOperator, ID: "admin remove-second-factor"},
	})
	if err != nil {
		return err
	}
	if err := v.SecondFactors.Drop(ctx, state.SecondFactor); err != nil {
		return err
	}
	_, err = v.RefreshTokens.Revoke(ctx, vault.Revocation{Users: []id.User{user}, Reason: "second_factor_changed"})
	return err
}
