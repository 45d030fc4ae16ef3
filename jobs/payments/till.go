package paymentsjobs

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// till says whose the money of a shortcode is (docs/rules/payments.md#environments).
type till struct {
	org         id.Organization // zero for the platform's, and while the owner is unknown or has given the number up
	environment string
	// ours is false for a shortcode that nobody here has and that no token was issued for: at a bare address only the
	// shortcode shows that the money is meant for us.
	ours bool
	// left is true when the owner gave the shortcode up: money that comes all the same waits until a person decides.
	left bool
}

// tillOf finds whose the money of a paybill payment is: by the token of its address, or by its shortcode at a bare one.
func (w *Workers) tillOf(ctx context.Context, t vault.TakenCallback, shortcode string) (till, error) {
	if t.Ref == uuid.Nil {
		return w.bareTill(ctx, shortcode)
	}
	token, err := w.cfg.Addresses.Tokens.Owner(ctx, TokenPaybill, t.Ref)
	if err != nil {
		return till{}, err
	}
	environment := ""
	if token != nil {
		environment = environmentOfToken(*token, shortcode)
	}
	here := till{environment: cmp.Or(environment, w.cfg.Access.Environment), ours: true}
	if token != nil && token.OrgID.IsZero() {
		return here, nil
	}
	owners, err := w.owners(ctx, environment, shortcode)
	if err != nil {
		return till{}, err
	}
	for _, o := range owners {
		if token != nil && o.OrgID == token.OrgID {
			return till{org: o.OrgID, environment: o.Environment, ours: true}, nil
		}
	}
	switch { // the token of a former owner, or of a registration that the provider may have accepted
	case len(owners) > 0:
		return till{environment: owners[0].Environment, ours: true}, nil
	case w.early(t.ReceivedAt):
		return till{}, failure.NewUnavailable("shortcode_unknown",
			"The shortcode is being registered. Try again shortly.", 0, nil)
	}
	return here, nil
}

// bareTill finds whose the money at a bare address is. It belongs to the platform's environment: the other one is
// reached by the tokens of its shortcodes alone, since a number that is proven in the one proves nothing about the
// other.
func (w *Workers) bareTill(ctx context.Context, shortcode string) (till, error) {
	here := till{environment: w.cfg.Access.Environment}
	if w.cfg.Access.platforms(shortcode) {
		here.ours = true
		return here, nil
	}
	owners, err := w.owners(ctx, here.environment, shortcode)
	if err != nil || len(owners) == 0 {
		return here, err
	}
	here.ours = true
	holds, err := w.holds(ctx, owners[0])
	if holds {
		here.org = owners[0].OrgID
	}
	here.left = !holds
	return here, err
}

// holds reports whether an organization still has the shortcode that it once proved: it uses it, or changes its
// credentials. While it does, nobody else can claim the shortcode.
func (w *Workers) holds(ctx context.Context, o paymentsviews.ShortcodeRow) (bool, error) {
	if o.Active {
		return true, nil
	}
	g, _, err := bus.LoadUnchecked[payments.Gateway](ctx, w.cfg.Bus, o.OrgID)
	return g.Proven && g.Shortcode == o.Shortcode && g.Environment == o.Environment, err
}

// owners lists the organizations that have proven a shortcode in an environment, "" for both: those that still use it
// first, then those in the platform's environment.
func (w *Workers) owners(ctx context.Context, environment, shortcode string) ([]paymentsviews.ShortcodeRow, error) {
	rows, err := w.gateways.Shortcodes(ctx, shortcode)
	rows = slices.DeleteFunc(rows, func(r paymentsviews.ShortcodeRow) bool {
		return environment != "" && r.Environment != environment
	})
	rank := func(r paymentsviews.ShortcodeRow) int {
		n := 0
		if !r.Active {
			n += 2
		}
		if r.Environment != w.cfg.Access.Environment {
			n++
		}
		return n
	}
	slices.SortStableFunc(rows, func(a, b paymentsviews.ShortcodeRow) int { return rank(a) - rank(b) })
	return rows, err
}

// environmentOf guesses the environment of a receipt that was recorded without one, from its shortcode: the platform's,
// unless organizations have the shortcode in the other one alone; unknown when nobody has it.
func (w *Workers) environmentOf(ctx context.Context, shortcode, unknown string) (string, error) {
	here := w.cfg.Access.Environment
	if w.cfg.Access.platforms(shortcode) {
		return here, nil
	}
	owners, err := w.owners(ctx, "", shortcode)
	switch {
	case err != nil || len(owners) == 0:
		return unknown, err
	case slices.ContainsFunc(owners, func(o paymentsviews.ShortcodeRow) bool { return o.Environment == here }):
		return here, nil
	}
	return owners[0].Environment, nil
}

// shared reports whether money without an owner was paid to the platform's own paybill, its present one or a former
// one. Only then may it be any organization's: whoever registers a shortcode of its own must not reach the customers of
// others with money that it pays to itself, or with play money of the sandbox.
func (w *Workers) shared(ctx context.Context, r paymentsviews.ReceiptRow) (bool, error) {
	return w.Shared(ctx, r.Environment, r.Shortcode)
}

// Shared reports whether a shortcode is the platform's own paybill, its present one or a former one. The environment is
// "" in receipts of old.
func (w *Workers) Shared(ctx context.Context, environment, shortcode string) (bool, error) {
	environment = cmp.Or(environment, w.cfg.Access.Environment)
	if environment != w.cfg.Access.Environment || w.cfg.Access.platforms(shortcode) {
		return environment == w.cfg.Access.Environment, nil
	}
	owners, err := w.owners(ctx, environment, shortcode)
	if err != nil || len(owners) > 0 {
		return false, err
	}
	for _, ref := range []id.Shortcode{
		shortcodeOf(id.Organization{}, environment, shortcode), legacyShortcodeOf(id.Organization{}, shortcode),
	} {
		token, err := w.cfg.Addresses.Tokens.Owner(ctx, TokenPaybill, ref.UUID())
		if err != nil || token != nil {
			return token != nil, err
		}
	}
	return false, nil
}

// environmentOfToken gives the environment for which the token of a shortcode was issued; "" when the token is older
// than that distinction.
func environmentOfToken(token vault.CallbackOwner, shortcode string) string {
	for _, environment := range []string{commands.EnvironmentSandbox, commands.EnvironmentProduction} {
		if token.Ref == shortcodeOf(token.OrgID, environment, shortcode).UUID() {
			return environment
		}
	}
	return ""
}

// shortcodeOf derives the owner of a paybill token: a shortcode in an environment together with the organization that
// uses it, zero for the platform. When the shortcode gets another owner, the token of the former one does not match any
// more.
func shortcodeOf(org id.Organization, environment, shortcode string) id.Shortcode {
	return id.Derive[id.Shortcode]("shortcode", org.String(), environment, shortcode)
}

// legacyShortcodeOf is the owner of a token that was issued before tokens had an environment. Such addresses stay
// registered with the provider.
func legacyShortcodeOf(org id.Organization, shortcode string) id.Shortcode {
	return id.Derive[id.Shortcode]("shortcode", org.String(), shortcode)
}
