package paymentsjobs

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// readPrompt handles the result of a prompt. The token of the address names the attempt; at a bare address the
// provider's id does, and only in the platform's environment. A success becomes a receipt, another code a verdict. A
// callback that is unverified, or lacks what a receipt needs, only leads to a status query
// (docs/rules/money.md#verified-sightings).
func (w *Workers) readPrompt(ctx context.Context, t vault.TakenCallback) (ending, error) {
	c, err := mobilemoney.ParseSTKCallback(t.Body)
	if err != nil {
		return w.unreadable(ctx, t), nil
	}
	p, err := w.attemptOf(ctx, t, c)
	success := c.Verdict().Status == mobilemoney.Success
	switch {
	case err != nil:
		return ending{}, err
	case p == nil && t.Ref != uuid.Nil: // the attempt exists, since its token was issued: the read model is late
		return ending{wait: backoff(t.Attempts, causeLateAttempt), cause: causeLateAttempt}, nil
	case p == nil:
		return w.unknownPrompt(ctx, t, success), nil
	}
	known := p.CheckoutRequestID == nil || *p.CheckoutRequestID == c.CheckoutRequestID
	here := t.Ref != uuid.Nil || p.Environment == w.cfg.Access.Environment
	verified := t.Verified && known && here
	switch {
	case !verified, success && (c.ReceiptNumber == "" || c.Amount.IsZero()):
		w.cfg.Logger.WarnContext(ctx, "callback leads to a status query only", "callback_id", t.ID, "payment_id", p.ID,
			"verified", verified)
		return ending{}, w.fromProvider(ctx, t, commands.RequestCheck{PaymentID: p.ID, Heard: true})
	case success:
		return ending{}, w.recordMoney(ctx, t, promptReceipt(t, c, *p))
	}
	return ending{}, w.fromProvider(ctx, t, commands.RecordVerdict{
		PaymentID: p.ID, CheckoutRequestID: c.CheckoutRequestID, Code: c.ResultCode, Message: c.ResultDesc,
		By: commands.ByCallback,
	})
}

// attemptOf finds the attempt of a prompt's callback; nil while the read model does not have it.
func (w *Workers) attemptOf(
	ctx context.Context, t vault.TakenCallback, c mobilemoney.STKCallback,
) (*paymentsviews.PaymentRow, error) {
	if t.Ref != uuid.Nil {
		return w.payments.Attempt(ctx, id.Payment(t.Ref))
	}
	return w.payments.ByCheckout(ctx, c.CheckoutRequestID)
}

// promptReceipt records the money of a successful prompt under the provider's receipt number, in capitals.
func promptReceipt(
	t vault.TakenCallback, c mobilemoney.STKCallback, p paymentsviews.PaymentRow,
) commands.RecordReceipt {
	number := strings.ToUpper(c.ReceiptNumber)
	return commands.RecordReceipt{
		OrgID: p.OrgID, Provider: commands.ProviderMobileMoney, Environment: p.Environment,
		ReceiptNumber: number, Channel: commands.ChannelPrompt, Shortcode: p.Shortcode, Amount: c.Amount,
		PaidAt: orReceived(c.PaidAt, t), PayerPhone: personal.Of(c.Phone), CheckoutRequestID: c.CheckoutRequestID,
		PaymentID: p.ID, Sighting: commands.SightingCallback,
	}
}

// unknownPrompt lets a callback wait that names no attempt of ours. It may have come before the answer to its prompt;
// but any merchant of the provider can have callbacks sent here, from the provider's own addresses, so it is never
// money by itself (docs/rules/money.md#unknown-prompts). The tries get rarer as it grows older, and the last one ends
// in an alarm when the callback speaks of money.
func (w *Workers) unknownPrompt(ctx context.Context, t vault.TakenCallback, money bool) ending {
	age := w.cfg.Clock.Now().Sub(t.ReceivedAt)
	switch {
	case age < answerPatience:
		return ending{wait: min(backoff(t.Attempts, causeUnknownAttempt), 5*time.Second), cause: causeUnknownAttempt}
	case age < commands.ReceiptPatience:
		return ending{wait: min(age, commands.ReceiptPatience-age), cause: CauseUnknownPrompt}
	case !money:
		return ending{}
	}
	w.cfg.Logger.ErrorContext(ctx, "callback names an unknown prompt", "callback_id", t.ID, "verified", t.Verified)
	return ending{cause: CauseUnknownPrompt}
}

// orReceived gives the provider's time of a payment, or the time of the callback when the provider gives none.
func orReceived(at time.Time, t vault.TakenCallback) time.Time {
	if at.IsZero() {
		return t.ReceivedAt
	}
	return at
}

// readPaybill handles a paybill payment from the provider or the bill manager. The money belongs to the organization of
// the shortcode; on the platform's shortcode its owner is found later (docs/rules/money.md#money-without-an-owner). An
// unverified payment only leads to a status query of the prompt that its reference names.
func (w *Workers) readPaybill(
	ctx context.Context, t vault.TakenCallback, parse func([]byte) (mobilemoney.C2B, error),
) (ending, error) {
	c, err := parse(t.Body)
	if err != nil {
		return w.unreadable(ctx, t), nil
	}
	if !t.Verified || t.Shortcode != "" && t.Shortcode != c.ShortCode {
		return ending{}, w.unverifiedConfirmation(ctx, t, c)
	}
	owner, err := w.tillOf(ctx, t, c.ShortCode)
	if err != nil {
		return ending{}, err
	}
	if !owner.ours {
		w.cfg.Logger.WarnContext(ctx, "paybill payment on a shortcode that is not served here", "callback_id", t.ID,
			"shortcode", c.ShortCode)
		return ending{}, nil // another merchant's: the provider calls from the same addresses for all
	}
	return ending{}, w.recordMoney(ctx, t, paybillReceipt(t, c, owner))
}

// unreadable gives up a callback whose body has not the provider's form: a person must see whether it is money.
func (w *Workers) unreadable(ctx context.Context, t vault.TakenCallback) ending {
	level := slog.LevelError
	if !t.Verified { // a stranger can send anything
		level = slog.LevelWarn
	}
	w.cfg.Logger.Log(ctx, level, "callback cannot be read", "callback_id", t.ID, "kind", t.Kind, "verified", t.Verified)
	return ending{cause: causeUnreadable}
}

// paybillReceipt records the money of a paybill payment. A phone that the provider masked or hashed is kept as it came.
func paybillReceipt(t vault.TakenCallback, c mobilemoney.C2B, owner till) commands.RecordReceipt {
	phone, ok := c.Phone()
	if !ok {
		phone = c.MSISDN // masked or hashed
	}
	name := strings.Join(strings.Fields(c.FirstName+" "+c.MiddleName+" "+c.LastName), " ")
	number := strings.ToUpper(c.ReceiptNumber)
	channel, sighting := commands.ChannelPaybill, commands.SightingConfirmation
	if t.Kind == CallbackBillManager {
		channel, sighting = commands.ChannelBillManager, commands.SightingBillManager
	}
	return commands.RecordReceipt{
		OrgID: owner.org, Provider: commands.ProviderMobileMoney, Environment: owner.environment,
		ReceiptNumber: number, Channel: channel, Shortcode: c.ShortCode, Amount: c.Amount,
		PaidAt: orReceived(c.PaidAt, t), PayerPhone: personal.Of(phone), PayerName: personal.Of(name),
		BillRef: personal.Of(c.BillRef), InvoiceNumber: personal.Of(c.InvoiceNumber),
		ThirdPartyTransID: c.ThirdPartyTransID, OrgAccountBalance: c.OrgAccountBalance, Sighting: sighting,
	}
}

// unverifiedConfirmation asks for a status query of the prompts that wait for money with this reference, if there are
// any.
func (w *Workers) unverifiedConfirmation(ctx context.Context, t vault.TakenCallback, c mobilemoney.C2B) error {
	w.cfg.Logger.WarnContext(ctx, "unverified paybill payment", "callback_id", t.ID)
	attempts, err := w.payments.ByReference(ctx, c.BillRef)
	for _, p := range attempts {
		old := w.cfg.Clock.Now().Sub(p.InitiatedAt) > commands.ReceiptPatience
		if err != nil || old || p.Shortcode != c.ShortCode || p.Amount() != c.Amount {
			continue
		}
		err = w.fromProvider(ctx, t, commands.RequestCheck{PaymentID: p.ID, Heard: true}, p.ID.String())
	}
	return err
}

// recordMoney records a verified sighting of money under the identity of its receipt number. When the receipt is
// another organization's and contradicts it, the organization of the sighting also gets a receipt of its own, which
// waits in suspense (docs/rules/money.md#contradictions).
func (w *Workers) recordMoney(ctx context.Context, t vault.TakenCallback, c commands.RecordReceipt) error {
	return w.recordBy(ctx, c, func(c commands.RecordReceipt, parts ...string) error {
		return w.fromProvider(ctx, t, c, parts...)
	})
}

// recordBy is recordMoney for any way in which commands are executed; the parts tell two commands of one sighting
// apart.
func (w *Workers) recordBy(
	ctx context.Context, c commands.RecordReceipt, execute func(c commands.RecordReceipt, parts ...string) error,
) error {
	var err error
	if c.ReceiptID, err = w.identify(ctx, c); err != nil {
		return err
	}
	if err := execute(c); err != nil {
		return err
	}
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, c.ReceiptID)
	if err != nil || !receipt.Elsewhere(c) {
		return err
	}
	w.cfg.Logger.ErrorContext(ctx, "receipt contradicts that of another organization", "receipt_id", c.ReceiptID,
		"org_id", c.OrgID, "sighting", c.Sighting)
	own := c
	own.ReceiptID, own.Contradicts = commands.ContradictionID(c.ReceiptID, c.OrgID), c.ReceiptID
	if receipt.OnlyStated() && c.Sighting != commands.SightingStatement {
		own.Contradicts = id.Receipt{} // a statement proves nothing about the money of others
	}
	return execute(own, "contradiction")
}

// identify gives the id of the receipt with a number: the present one, or that under which it was recorded before ids
// contained the environment. A receipt of that time on a shortcode of the other environment is other money.
func (w *Workers) identify(ctx context.Context, c commands.RecordReceipt) (id.Receipt, error) {
	present, legacy := commands.ReceiptID(c.Environment, c.ReceiptNumber), commands.LegacyReceiptID(c.ReceiptNumber)
	old, _, err := bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, legacy)
	if err != nil || old.Standing == payments.StandingNone {
		return present, err
	}
	if old.Shortcode == c.Shortcode {
		return legacy, nil
	}
	environment, err := w.environmentOf(ctx, old.Shortcode, c.Environment)
	if err != nil || environment != c.Environment {
		return present, err
	}
	return legacy, nil
}
