package paymentsjobs

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// Operator is the part of the provider's client that speaks as an initiator. [mobilemoney.Client] has it.
type Operator interface {
	AskStatus(ctx context.Context, creds mobilemoney.Credentials, by mobilemoney.Initiator,
		q mobilemoney.StatusRequest) error
	Reverse(ctx context.Context, creds mobilemoney.Credentials, by mobilemoney.Initiator,
		q mobilemoney.ReversalRequest) (mobilemoney.Acknowledgement, error)
}

// registerOperator adds the jobs that speak as an initiator. A reversal is never sent twice, however often its job is
// tried: see SubmitReversal.
func (w *Workers) registerOperator(r *jobrunner.Runner) {
	jobrunner.AddWorker(r, w.SubmitReversal, jobrunner.Options{
		Queue: "prompt_queries", Timeout: 30 * time.Second, MaxAttempts: 20,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	})
	jobrunner.OnDiscarded(r, w.ReversalLost)
	asks := jobrunner.Options{
		Queue: "prompt_queries", Timeout: 30 * time.Second, MaxAttempts: 3,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	}
	jobrunner.AddWorker(r, w.AskRefundStatus, asks)
	jobrunner.AddWorker(r, w.AskPromptStatus, asks)
	jobrunner.AddWorker(r, w.AskReceipt, asks)
}

// reached has all that is needed to ask the provider about the money of a shortcode.
type reached struct {
	creds    mobilemoney.Credentials
	by       mobilemoney.Initiator
	provider Provider
	answers  id.Secret // of the phone that answers for the shortcode; zero = the platform's
}

// ErrNoInitiator is the failure of a question that needs an initiator, for a shortcode without one.
func ErrNoInitiator() error {
	return failure.NewConflict("initiator_missing",
		"The provider cannot be asked about this money: no initiator is set up for its shortcode.")
}

// reach gives what is needed to ask about money of a shortcode as an initiator. Fails: initiator_missing,
// payment_gateway_missing.
func (w *Workers) reach(ctx context.Context, org id.Organization, environment, shortcode string) (reached, error) {
	out, err := w.speak(ctx, org, environment, shortcode)
	if err == nil && !out.by.Usable() {
		err = ErrNoInitiator()
	}
	return out, err
}

// speak gives what is needed to speak to the provider for a shortcode: the platform's credentials for its own paybill,
// else those of the organization while it has the shortcode; with the initiator, if there is one. Fails:
// initiator_missing for a shortcode of which there are no credentials, payment_gateway_missing.
func (w *Workers) speak(ctx context.Context, org id.Organization, environment, shortcode string) (reached, error) {
	access := w.cfg.Access
	out := reached{creds: access.Platform, by: access.Initiator}
	if shortcode != access.Platform.ShortCode || environment != access.Environment {
		g, _, err := bus.LoadUnchecked[payments.Gateway](ctx, w.cfg.Bus, org)
		switch {
		case err != nil:
			return out, err
		case org.IsZero() || !g.Direct || !g.Proven || g.Shortcode != shortcode || g.Environment != environment:
			return out, ErrNoInitiator()
		}
		out.answers = g.Nominated
		if out.creds, err = access.Credentials(ctx, g.Credentials, shortcode); err != nil {
			return out, err
		}
		if out.by, err = access.initiator(ctx, g.Credentials); err != nil {
			return out, err
		}
	}
	if shortcode == "" {
		return out, ErrNoInitiator()
	}
	var err error
	out.provider, err = access.Provider(environment)
	return out, err
}

// MayAsk reports whether the provider can be asked about the money of a shortcode, and so be asked to send it back.
func (w *Workers) MayAsk(ctx context.Context, org id.Organization, environment, shortcode string) (bool, error) {
	_, err := w.reach(ctx, org, environment, shortcode)
	if code := failure.CodeOf(err); code == "initiator_missing" || code == "payment_gateway_missing" {
		return false, nil
	}
	return err == nil, err
}

// SubmitReversal asks the provider once to send the money of a refund back. What an earlier try of this job began is in
// doubt and is not asked for again (docs/rules/money.md#reversals).
func (w *Workers) SubmitReversal(ctx context.Context, args commands.SubmitReversal, cause jobs.Cause) error {
	refund, receipt, to, err := w.refundOf(ctx, args.RefundID)
	if err != nil {
		return w.notSubmitted(ctx, cause, args.RefundID, err)
	}
	urls, err := w.cfg.Addresses.OfResult(ctx, TokenReversal, args.RefundID.UUID(), refund.Org, receipt.Shortcode)
	if err != nil {
		return err
	}
	begun, err := w.report(ctx, cause, commands.SubmitRefund{RefundID: args.RefundID})
	switch {
	case err != nil:
		return passed(err) // it has ended meanwhile
	case !begun.Changed:
		return w.doubt(ctx, cause, args.RefundID, commands.DoubtInterrupted)
	}
	a, err := to.provider.Reverse(ctx, to.creds, to.by, mobilemoney.ReversalRequest{
		ReceiptNumber: receipt.Number, Amount: refund.Amount, URLs: urls,
	})
	switch a.Outcome {
	case mobilemoney.Accepted:
		_, err = w.report(ctx, cause, commands.AcknowledgeRefund{
			RefundID: args.RefundID, ConversationID: a.ConversationID,
			OriginatorConversationID: a.OriginatorConversationID,
		})
		return err
	case mobilemoney.Refused:
		_, err = w.report(ctx, cause, commands.ConcludeRefund{
			RefundID: args.RefundID, Code: "provider_refused", Message: a.Refusal.Message,
		})
		return passed(err)
	case mobilemoney.NotSent:
		_, err = w.report(ctx, cause, commands.ConcludeRefund{
			RefundID: args.RefundID, Code: codeOf(err), Message: messageOf(err),
		})
		return passed(err)
	case mobilemoney.InDoubt:
	}
	w.cfg.Logger.WarnContext(ctx, "reversal is in doubt", "refund_id", args.RefundID, "error", a.Cause)
	return w.doubt(ctx, cause, args.RefundID, commands.DoubtNoAnswer)
}

// refundOf gathers what the provider is asked about for a refund.
func (w *Workers) refundOf(
	ctx context.Context, refund id.Refund,
) (r payments.Refund, of payments.Receipt, to reached, err error) {
	if r, _, err = bus.LoadUnchecked[payments.Refund](ctx, w.cfg.Bus, refund); err != nil {
		return r, of, to, err
	}
	if of, _, err = bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, r.Receipt); err != nil {
		return r, of, to, err
	}
	to, err = w.reach(ctx, r.Org, of.Environment, of.Shortcode)
	return r, of, to, err
}

// notSubmitted fails a refund for which the provider cannot be asked; any other failure is tried again.
func (w *Workers) notSubmitted(ctx context.Context, cause jobs.Cause, refund id.Refund, why error) error {
	if code := failure.CodeOf(why); code != "initiator_missing" && code != "payment_gateway_missing" {
		return why
	}
	_, err := w.report(ctx, cause, commands.ConcludeRefund{
		RefundID: refund, Code: codeOf(why), Message: messageOf(why),
	})
	return passed(err)
}

// doubt reports that nobody knows whether the money went back.
func (w *Workers) doubt(ctx context.Context, cause jobs.Cause, refund id.Refund, why string) error {
	_, err := w.report(ctx, cause, commands.DoubtRefund{RefundID: refund, Cause: why})
	return passed(err)
}

// ReversalLost doubts a reversal whose job ended without a report. One that was not submitted stays approved: it can be
// cancelled.
func (w *Workers) ReversalLost(ctx context.Context, args commands.SubmitReversal, cause jobs.Cause, _ string) error {
	return w.doubt(ctx, cause, args.RefundID, commands.DoubtInterrupted)
}

// AskRefundStatus asks what became of a reversal: by the provider's id of the request, or else by the payment that was
// to go back. The result is a message of its own.
func (w *Workers) AskRefundStatus(ctx context.Context, args commands.AskRefundStatus, _ jobs.Cause) error {
	refund, receipt, to, err := w.refundOf(ctx, args.RefundID)
	if err != nil || refund.State != payments.RefundInDoubt {
		return passed(err)
	}
	q := mobilemoney.StatusRequest{OriginatorConversationID: refund.Origin}
	if refund.Origin == "" {
		q.ReceiptNumber = receipt.Number
	}
	q.URLs, err = w.cfg.Addresses.OfResult(ctx, TokenRefundStatus, args.RefundID.UUID(), refund.Org, receipt.Shortcode)
	if err != nil {
		return err
	}
	return w.ask(ctx, to, q)
}

// AskPromptStatus asks for the receipt of a prompt that is known to be paid, by the provider's id of the request.
func (w *Workers) AskPromptStatus(ctx context.Context, args commands.AskPromptStatus, _ jobs.Cause) error {
	p, _, err := bus.LoadUnchecked[payments.Payment](ctx, w.cfg.Bus, args.PaymentID)
	if err != nil || p.MerchantRequestID == "" {
		return err
	}
	row, err := w.payments.Attempt(ctx, args.PaymentID)
	if err != nil || row == nil {
		return err
	}
	to, err := w.reach(ctx, row.OrgID, row.Environment, row.Shortcode)
	if err != nil {
		return passed(err)
	}
	q := mobilemoney.StatusRequest{OriginatorConversationID: p.MerchantRequestID}
	q.URLs, err = w.cfg.Addresses.OfResult(ctx, TokenPromptStatus, args.PaymentID.UUID(), row.OrgID, row.Shortcode)
	if err != nil {
		return err
	}
	return w.ask(ctx, to, q)
}

// AskReceipt asks about a receipt number that somebody names.
func (w *Workers) AskReceipt(ctx context.Context, args commands.AskReceipt, _ jobs.Cause) error {
	to, err := w.reach(ctx, args.OrgID, args.Environment, args.Shortcode)
	if err != nil {
		return passed(err)
	}
	q := mobilemoney.StatusRequest{ReceiptNumber: args.ReceiptNumber}
	about := commands.ReceiptID(args.Environment, args.ReceiptNumber)
	q.URLs, err = w.cfg.Addresses.OfResult(ctx, TokenReceiptStatus, about.UUID(), args.OrgID, args.Shortcode)
	if err != nil {
		return err
	}
	return w.ask(ctx, to, q)
}

// ask sends a question; a refusal is logged, since the next sweep or person asks again.
func (w *Workers) ask(ctx context.Context, to reached, q mobilemoney.StatusRequest) error {
	err := to.provider.AskStatus(ctx, to.creds, to.by, q)
	if failure.KindOf(err) == failure.Refused || failure.KindOf(err) == failure.Invalid {
		w.cfg.Logger.WarnContext(ctx, "status of a transaction was refused", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for a status: %w", err)
	}
	return nil
}
