package paymentsjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/jobs"
)

// PromptLost ends an attempt whose job ended without a report. When the submission was begun nobody knows whether the
// phone was asked, so the attempt is in doubt; else it was not sent, and frees its amount. An attempt that has gone on
// is left as it is.
func (w *Workers) PromptLost(ctx context.Context, args commands.SubmitPrompt, cause jobs.Cause, _ string) error {
	_, err := w.report(ctx, cause, commands.DoubtPrompt{PaymentID: args.PaymentID, Cause: "interrupted"})
	if err == nil {
		_, err = w.report(ctx, cause, commands.AbandonPrompt{PaymentID: args.PaymentID})
	}
	return passed(err)
}

// PayerLost puts money into suspense whose payer no job looks for any more, so that a person sees it. Money that has a
// place by now is left where it is.
func (w *Workers) PayerLost(ctx context.Context, args commands.FindPayer, cause jobs.Cause, _ string) error {
	r, err := w.receipts.Any(ctx, args.ReceiptID)
	if err != nil || r == nil || r.State != "recorded" {
		return err
	}
	return passed(w.hold(ctx, cause, r.ID, commands.HeldNoMatch))
}

// RegistrationLost reports the registration of a shortcode as failed, so that its process tries again soon.
func (w *Workers) RegistrationLost(
	ctx context.Context, args commands.RegisterShortcode, cause jobs.Cause, code string,
) error {
	g, err := w.gateways.Get(ctx, args.OrgID)
	if err != nil || g == nil || !g.Direct || g.CredentialsRef != args.CredentialsRef {
		return err // other settings have a job of their own
	}
	if code == "" {
		code = "internal"
	}
	_, err = w.report(ctx, cause, commands.FailGatewayRegistration{
		OrgID: args.OrgID, Environment: g.Environment, Shortcode: g.Shortcode, CredentialsRef: args.CredentialsRef,
		Error: "The registration ended without an answer (" + code + ").",
	})
	return passed(err)
}

// passed drops a refusal: what the job was about has gone on without it.
func passed(err error) error {
	if refused(err) {
		return nil
	}
	return err
}
