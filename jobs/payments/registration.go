package paymentsjobs

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// RegisterShortcode activates an organization's own shortcode: it gets a token and registers the C2B addresses, both
// with the organization's credentials (docs/rules/payments.md#direct-shortcode). A failure is reported as an outcome;
// the process tries again. A shortcode that is active gets its present addresses, and stays active when that fails.
func (w *Workers) RegisterShortcode(ctx context.Context, args commands.RegisterShortcode, cause jobs.Cause) error {
	if err := w.cfg.Views.WaitFor(ctx, paymentsviews.GatewaysName, args.Position); err != nil {
		return err
	}
	g, err := w.gateways.Get(ctx, args.OrgID)
	if err != nil {
		return err
	}
	if g == nil || !g.Direct || g.CredentialsRef != args.CredentialsRef {
		return nil // the settings were changed meanwhile
	}
	err = w.free(ctx, *g)
	if err == nil {
		err = w.register(ctx, directRegistrant(*g))
	}
	if err != nil && g.Active() {
		w.cfg.Logger.ErrorContext(ctx, unrefreshed, "org_id", g.OrgID, "shortcode", g.Shortcode,
			"environment", g.Environment, "error", err)
		return transient(err)
	}
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "shortcode is not registered", "org_id", args.OrgID, "error", err)
		_, err := w.report(ctx, cause, commands.FailGatewayRegistration{
			OrgID: args.OrgID, Environment: g.Environment, Shortcode: g.Shortcode, CredentialsRef: args.CredentialsRef,
			Error: messageOf(err), Code: failure.CodeOf(err), Lasting: lasting(err),
		})
		return err
	}
	_, err = w.report(ctx, cause, commands.RegisterGateway{
		OrgID: args.OrgID, Environment: g.Environment, Shortcode: g.Shortcode, CredentialsRef: args.CredentialsRef,
	})
	if failure.CodeOf(err) != "shortcode_taken" {
		return err
	}
	_, err = w.report(ctx, cause, commands.FailGatewayRegistration{ // another one was faster
		OrgID: args.OrgID, Environment: g.Environment, Shortcode: g.Shortcode, CredentialsRef: args.CredentialsRef,
		Error: messageOf(err), Code: failure.CodeOf(err),
	})
	return err
}

// free fails when another organization holds the shortcode in the same environment: a registration would send that
// one's callbacks here under this one's token. The claim of the shortcode decides in the end; this only avoids the
// call. Fails: shortcode_taken.
func (w *Workers) free(ctx context.Context, g paymentsviews.GatewayRow) error {
	owners, err := w.owners(ctx, g.Environment, g.Shortcode)
	for _, o := range owners {
		if o.OrgID == g.OrgID {
			continue
		}
		holds, err := w.holds(ctx, o)
		if err != nil {
			return err
		}
		if holds {
			return failure.NewConflict("shortcode_taken",
				"This shortcode belongs to another organization or to the platform.")
		}
	}
	return err
}

// RegisterPlatform registers the addresses of the shared paybill (docs/rules/payments.md#callback-endpoints). What only
// a person can mend is told in the log, and not tried again before the next run.
func (w *Workers) RegisterPlatform(ctx context.Context, _ commands.RegisterPlatform, _ jobs.Cause) error {
	if w.cfg.Access.Platform.ShortCode == "" {
		return nil
	}
	err := w.register(ctx, registrant{
		shortcode: w.cfg.Access.Platform.ShortCode, environment: w.cfg.Access.Environment,
	})
	if lasting(err) {
		w.cfg.Logger.ErrorContext(ctx, "platform shortcode is not registered",
			"shortcode", w.cfg.Access.Platform.ShortCode, "environment", w.cfg.Access.Environment, "error", err)
		return nil
	}
	return err
}

// unrefreshed is the log's text about an active shortcode of which the provider does not have the present addresses.
const unrefreshed = "callback addresses of a shortcode are not registered"

// RefreshAddresses registers the addresses of those active direct shortcodes of which the provider does not have the
// present addresses, because the address of the platform has changed. The shortcodes stay active: prompts do not depend
// on it. A refusal is told in the log, and tried again by the next run.
func (w *Workers) RefreshAddresses(ctx context.Context, _ commands.RefreshAddresses, _ jobs.Cause) error {
	list, err := w.gateways.Active(ctx)
	if err != nil {
		return err
	}
	var later []error
	for _, g := range list {
		r := directRegistrant(g)
		urls, known, err := w.have(ctx, r)
		if err == nil && (known.Registration != registered(urls)) {
			err = w.register(ctx, r)
		}
		if err == nil {
			continue
		}
		w.cfg.Logger.ErrorContext(ctx, unrefreshed, "org_id", g.OrgID, "shortcode", g.Shortcode,
			"environment", g.Environment, "error", err)
		later = append(later, transient(err))
	}
	return errors.Join(later...)
}

// transient gives a failure that may be gone when its job runs again, and nil for a refusal.
func transient(err error) error {
	if failure.KindOf(err) == failure.Internal || failure.CodeOf(err) == "provider_unavailable" {
		return err
	}
	return nil
}
