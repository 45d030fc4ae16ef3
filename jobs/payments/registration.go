package paymentsjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// RegisterShortcode activates an organization's own shortcode: it gets a token and registers the C2B addresses, both
// with the organization's credentials (docs/rules/payments.md#direct-shortcode). A failure is reported as an outcome;
// the process tries again.
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
		err = w.register(ctx, args.OrgID, args.CredentialsRef, g.Shortcode, g.Environment)
	}
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "shortcode is not registered", "org_id", args.OrgID, "error", err)
		_, err := w.report(ctx, cause, commands.FailGatewayRegistration{
			OrgID: args.OrgID, Environment: g.Environment, Shortcode: g.Shortcode, CredentialsRef: args.CredentialsRef,
			Error: messageOf(err),
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
		Error: messageOf(err),
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

// RegisterPlatform registers the addresses of the shared paybill (docs/rules/payments.md#callback-endpoints).
func (w *Workers) RegisterPlatform(ctx context.Context, _ commands.RegisterPlatform, _ jobs.Cause) error {
	if w.cfg.Access.Platform.ShortCode == "" {
		return nil
	}
	return w.register(ctx, id.Organization{}, id.Secret{}, w.cfg.Access.Platform.ShortCode, w.cfg.Access.Environment)
}

// register calls the provider for a shortcode; org and ref are zero for the platform's.
func (w *Workers) register(
	ctx context.Context, org id.Organization, ref id.Secret, shortcode, environment string,
) error {
	creds, err := w.cfg.Access.Credentials(ctx, ref, shortcode)
	if err != nil {
		return err
	}
	provider, err := w.cfg.Access.Provider(environment)
	if err != nil {
		return err
	}
	urls, err := w.cfg.Addresses.OfPaybill(ctx, org, environment, shortcode)
	if err != nil {
		return err
	}
	return provider.RegisterURLs(ctx, creds, urls)
}
