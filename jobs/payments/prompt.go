package paymentsjobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// promptDescription is shown to the customer beside the reference; the provider takes at most 13 characters.
const promptDescription = "Internet bill"

// SubmitPrompt sends a prompt at most once, and only while the customer still waits for it. When an earlier attempt of
// this job began the submission, its result is unknown: the prompt is reported in doubt and not sent again
// (docs/rules/engine.md#doubt).
func (w *Workers) SubmitPrompt(ctx context.Context, args commands.SubmitPrompt, cause jobs.Cause) error {
	attempt, err := w.attempt(ctx, args.PaymentID.String(), args.Position, func() (*paymentsviews.PaymentRow, error) {
		return w.payments.Attempt(ctx, args.PaymentID)
	})
	if err != nil {
		return err
	}
	if w.cfg.Clock.Now().Sub(attempt.InitiatedAt) >= commands.PromptPatience {
		return w.abandon(ctx, cause, args.PaymentID)
	}
	creds, provider, request, err := w.prepare(ctx, *attempt)
	if err != nil {
		if !cause.Last && failure.KindOf(err) != failure.Unavailable && !refused(err) {
			return err
		}
		_, err = w.report(ctx, cause, commands.RefusePrompt{
			PaymentID: args.PaymentID, Code: codeOf(err), Message: messageOf(err),
		})
		return err
	}
	begun, err := w.report(ctx, cause, commands.BeginSubmission{PaymentID: args.PaymentID})
	switch {
	case failure.CodeOf(err) == "prompt_too_late":
		return w.abandon(ctx, cause, args.PaymentID)
	case err != nil:
		return err
	}
	if !begun.Changed {
		_, err := w.report(ctx, cause, commands.DoubtPrompt{PaymentID: args.PaymentID, Cause: "interrupted"})
		return err
	}
	answer, err := provider.Prompt(ctx, creds, request)
	outcome := outcomeOf(args, answer, err)
	if answer.Outcome == mobilemoney.InDoubt {
		w.cfg.Logger.WarnContext(ctx, "prompt is in doubt", "payment_id", args.PaymentID, "error", answer.Cause)
	}
	_, err = w.report(ctx, cause, outcome)
	return err
}

// abandon ends an attempt that was not sent in time. Its process does the same when no job gets that far.
func (w *Workers) abandon(ctx context.Context, cause jobs.Cause, payment id.Payment) error {
	w.cfg.Logger.WarnContext(ctx, "prompt is too late and not sent", "payment_id", payment)
	_, err := w.report(ctx, cause, commands.AbandonPrompt{PaymentID: payment})
	return err
}

// attempt waits until the read model has the position, then reads the attempt. An absent row is an error.
func (w *Workers) attempt(
	ctx context.Context, name string, position uint64, read func() (*paymentsviews.PaymentRow, error),
) (*paymentsviews.PaymentRow, error) {
	if err := w.cfg.Views.WaitFor(ctx, paymentsviews.PaymentsName, position); err != nil {
		return nil, err
	}
	row, err := read()
	if err == nil && row == nil {
		err = fmt.Errorf("payment %s is not in the read model", name)
	}
	return row, err
}

// prepare gathers all that a prompt needs before BeginSubmission. Fails: payment_gateway_missing, phone_forgotten.
func (w *Workers) prepare(
	ctx context.Context, p paymentsviews.PaymentRow,
) (mobilemoney.Credentials, Provider, mobilemoney.PromptRequest, error) {
	var none mobilemoney.PromptRequest
	creds, err := w.cfg.Access.Credentials(ctx, p.CredentialsRef, p.Shortcode)
	if err != nil {
		return creds, nil, none, err
	}
	provider, err := w.cfg.Access.Provider(p.Environment)
	if err != nil {
		return creds, nil, none, err
	}
	if p.Phone == nil {
		return creds, nil, none, failure.NewConflict("phone_forgotten",
			"The phone number of this payment was erased. Start a new payment.")
	}
	address, err := w.cfg.Addresses.OfPrompt(ctx, p.ID, p.OrgID, p.Shortcode)
	return creds, provider, mobilemoney.PromptRequest{
		Phone: *p.Phone, Amount: money.Of(p.AmountMinor, p.Currency), CallbackURL: address,
		AccountReference: p.AccountReference, Description: promptDescription,
	}, err
}

// outcomeOf gives the command that reports the result of the call. Anything unclear becomes DoubtPrompt.
func outcomeOf(args commands.SubmitPrompt, a mobilemoney.PromptAnswer, err error) commands.Command {
	switch a.Outcome {
	case mobilemoney.Accepted:
		return commands.AcceptPrompt{
			PaymentID: args.PaymentID, MerchantRequestID: a.MerchantRequestID, CheckoutRequestID: a.CheckoutRequestID,
			CustomerMessage: a.CustomerMessage,
		}
	case mobilemoney.Refused:
		return commands.RefusePrompt{PaymentID: args.PaymentID, Code: a.Refusal.Code, Message: a.Refusal.Message}
	case mobilemoney.NotSent:
		return commands.RefusePrompt{PaymentID: args.PaymentID, Code: codeOf(err), Message: messageOf(err)}
	case mobilemoney.InDoubt:
	}
	return commands.DoubtPrompt{PaymentID: args.PaymentID, Cause: "no_answer"}
}

// codeOf gives the code of a refusal before the prompt was sent; provider_unavailable when the error has none.
func codeOf(err error) string {
	if code := failure.CodeOf(err); code != "" {
		return code
	}
	return "provider_unavailable"
}

// messageOf gives the failure's text for customers, or a general one.
func messageOf(err error) string {
	var f *failure.Error
	if errors.As(err, &f) && f.Message != "" {
		return f.Message
	}
	return "The payment provider could not be reached. Try again later."
}

// QueryPrompt asks the provider for the result of a prompt. Only a verdict ends the payment; a success becomes a
// provisional receipt, since the answer has no receipt number (docs/rules/payments.md#verdicts,
// docs/rules/money.md#provisional-receipts).
func (w *Workers) QueryPrompt(ctx context.Context, args commands.QueryPrompt, cause jobs.Cause) error {
	p, err := w.attempt(ctx, args.PaymentID.String(), args.Position, func() (*paymentsviews.PaymentRow, error) {
		return w.payments.Attempt(ctx, args.PaymentID)
	})
	if err != nil {
		return err
	}
	if p.CheckoutRequestID == nil || p.Status() == paymentsviews.StatusSuccess {
		return nil
	}
	creds, err := w.cfg.Access.Credentials(ctx, p.CredentialsRef, p.Shortcode)
	if err != nil {
		return err
	}
	provider, err := w.cfg.Access.Provider(p.Environment)
	if err != nil {
		return err
	}
	verdict, err := provider.QueryPrompt(ctx, creds, *p.CheckoutRequestID)
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "status query failed", "payment_id", p.ID, "error", err)
		_, err = w.report(ctx, cause, commands.RecordCheck{PaymentID: p.ID, Code: "unreachable"})
		return err
	}
	_, err = w.report(ctx, cause, w.verdictCommand(*p, verdict))
	return err
}

// verdictCommand gives the command that reports the answer to a status query.
func (w *Workers) verdictCommand(p paymentsviews.PaymentRow, v mobilemoney.Verdict) commands.Command {
	switch v.Status {
	case mobilemoney.Success:
		return commands.RecordReceipt{
			ReceiptID: commands.ProvisionalReceiptID(*p.CheckoutRequestID), OrgID: p.OrgID,
			Provider: commands.ProviderProvisional, Environment: p.Environment, Channel: commands.ChannelPrompt,
			Shortcode: p.Shortcode, Amount: p.Amount(), PaidAt: w.cfg.Clock.Now(),
			CheckoutRequestID: *p.CheckoutRequestID, PaymentID: p.ID, Provisional: true,
			Sighting: commands.SightingQuery,
		}
	case mobilemoney.NoVerdict, mobilemoney.Pending:
		return commands.RecordCheck{PaymentID: p.ID, Code: v.Code, Answered: true}
	case mobilemoney.Cancelled, mobilemoney.Failed:
	}
	return commands.RecordVerdict{PaymentID: p.ID, Code: v.Code, Message: v.Text, By: commands.ByQuery}
}
