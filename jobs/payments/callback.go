package paymentsjobs

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// readPrompt handles the result of a prompt. The token of the address names the attempt; at a bare address the
// provider's id does. A success becomes a receipt, another code a verdict. A callback that is unverified, or lacks what
// a receipt needs, only leads to a status query (docs/rules/money.md#verified-sightings).
func (w *Workers) readPrompt(ctx context.Context, t vault.TakenCallback) (time.Duration, error) {
	c, err := mobilemoney.ParseSTKCallback(t.Body)
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "callback cannot be read", "callback_id", t.ID, "kind", t.Kind)
		return 0, nil // the inbox keeps the row
	}
	p, err := w.attemptOf(ctx, t, c)
	if err != nil {
		return 0, err
	}
	switch {
	case p != nil:
	case w.cfg.Clock.Now().Sub(t.ReceivedAt) < answerPatience:
		return min(backoff(t.Attempts), 5*time.Second), nil
	case t.Ref != uuid.Nil: // the attempt exists, since its token was issued: the read model is late
		return backoff(t.Attempts), nil
	default:
		return 0, w.unknownPrompt(ctx, t, c)
	}
	verified := t.Verified && (p.CheckoutRequestID == nil || *p.CheckoutRequestID == c.CheckoutRequestID)
	success := c.Verdict().Status == mobilemoney.Success
	switch {
	case !verified, success && (c.ReceiptNumber == "" || c.Amount.IsZero()):
		w.cfg.Logger.WarnContext(ctx, "callback leads to a status query only", "callback_id", t.ID, "payment_id", p.ID,
			"verified", verified)
		return 0, w.fromProvider(ctx, t, commands.RequestCheck{PaymentID: p.ID})
	case success:
		return 0, w.fromProvider(ctx, t, promptReceipt(t, c, *p))
	}
	return 0, w.fromProvider(ctx, t, commands.RecordVerdict{
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
		ReceiptID: commands.ReceiptID(number), OrgID: p.OrgID, Provider: commands.ProviderMobileMoney,
		ReceiptNumber: number, Channel: commands.ChannelPrompt, Shortcode: p.Shortcode, Amount: c.Amount,
		PaidAt: orReceived(c.PaidAt, t), PayerPhone: personal.Of(c.Phone), CheckoutRequestID: c.CheckoutRequestID,
		PaymentID: p.ID, Sighting: commands.SightingCallback,
	}
}

// unknownPrompt records the money of a prompt that was not sent from here, so that it waits in suspense. An unverified
// callback proves no money and is only logged.
func (w *Workers) unknownPrompt(ctx context.Context, t vault.TakenCallback, c mobilemoney.STKCallback) error {
	w.cfg.Logger.WarnContext(ctx, "callback names an unknown prompt", "callback_id", t.ID, "verified", t.Verified)
	if !t.Verified || c.Verdict().Status != mobilemoney.Success || c.ReceiptNumber == "" || c.Amount.IsZero() {
		return nil
	}
	return w.fromProvider(ctx, t, promptReceipt(t, c, paymentsviews.PaymentRow{
		Shortcode: w.cfg.Access.Platform.ShortCode,
	}))
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
) error {
	c, err := parse(t.Body)
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "callback cannot be read", "callback_id", t.ID, "kind", t.Kind)
		return nil // the inbox keeps the row
	}
	if !t.Verified || t.Shortcode != "" && t.Shortcode != c.ShortCode {
		return w.unverifiedConfirmation(ctx, t, c)
	}
	org, ours, err := w.ownerOf(ctx, t, c.ShortCode)
	if err != nil {
		return err
	}
	if !ours {
		w.cfg.Logger.WarnContext(ctx, "paybill payment on a shortcode that is not served here", "callback_id", t.ID,
			"shortcode", c.ShortCode)
		return nil // another merchant's: the provider calls from the same addresses for all
	}
	return w.fromProvider(ctx, t, paybillReceipt(t, c, org))
}

// ownerOf finds the organization that a paybill payment on a shortcode belongs to; zero while the owner is unknown. A
// token issued to a former owner of the shortcode proves that the money is real, but not who owns it. ours is false for
// a shortcode that no organization here has and that no token was issued for: at a bare address only the shortcode
// shows that the money is meant for us.
func (w *Workers) ownerOf(
	ctx context.Context, t vault.TakenCallback, shortcode string,
) (org id.Organization, ours bool, err error) {
	none := id.Organization{}
	if shortcode == w.cfg.Access.Platform.ShortCode {
		return none, true, nil
	}
	owner, err := w.gateways.Shortcode(ctx, shortcode)
	switch {
	case err != nil:
		return none, false, err
	case owner == nil && t.Shortcode != "" && w.cfg.Clock.Now().Sub(t.ReceivedAt) < answerPatience:
		return none, false, failure.NewUnavailable("shortcode_unknown",
			"The shortcode is being registered. Try again shortly.", 0,
			nil)
	case owner == nil:
		return none, t.Shortcode == shortcode, nil
	case t.Ref != uuid.Nil && t.Ref != shortcodeOf(owner.OrgID, shortcode).UUID():
		return none, true, nil
	}
	return owner.OrgID, true, nil
}

// paybillReceipt records the money of a paybill payment. A phone that the provider masked or hashed is kept as it came.
func paybillReceipt(t vault.TakenCallback, c mobilemoney.C2B, org id.Organization) commands.RecordReceipt {
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
		ReceiptID: commands.ReceiptID(number), OrgID: org, Provider: commands.ProviderMobileMoney,
		ReceiptNumber: number, Channel: channel, Shortcode: c.ShortCode, Amount: c.Amount,
		PaidAt: orReceived(c.PaidAt, t), PayerPhone: personal.Of(phone), PayerName: personal.Of(name),
		BillRef: personal.Of(c.BillRef), Sighting: sighting,
	}
}

// unverifiedConfirmation asks for a status query of the prompt whose reference the payment gives, if there is one.
func (w *Workers) unverifiedConfirmation(ctx context.Context, t vault.TakenCallback, c mobilemoney.C2B) error {
	w.cfg.Logger.WarnContext(ctx, "unverified paybill payment", "callback_id", t.ID)
	p, err := w.payments.ByReference(ctx, c.BillRef)
	if err != nil || p == nil {
		return err
	}
	return w.fromProvider(ctx, t, commands.RequestCheck{PaymentID: p.ID})
}
