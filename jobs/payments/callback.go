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

// readPrompt handles the result of a prompt. The attempt is the one of the address's token, else the one that the
// provider names. A success becomes a receipt, another code a verdict; what is unverified, or lacks what a receipt
// needs, only makes us ask (docs/rules/money.md#verified-sightings).
func (w *Workers) readPrompt(ctx context.Context, t vault.TakenCallback) (time.Duration, error) {
	c, err := mobilemoney.ParseSTKCallback(t.Body)
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "callback cannot be read", "callback_id", t.ID, "kind", t.Kind)
		return 0, nil // kept for the record
	}
	p, err := w.attemptOf(ctx, t, c)
	if err != nil {
		return 0, err
	}
	switch {
	case p != nil:
	case w.cfg.Clock.Now().Sub(t.ReceivedAt) < answerPatience:
		return min(backoff(t.Attempts), 5*time.Second), nil
	case t.Ref != uuid.Nil: // its token was made for an attempt: the read model is far behind, or has stopped
		return backoff(t.Attempts), nil
	default:
		return 0, w.unknownPrompt(ctx, t, c)
	}
	verified := t.Verified && (p.CheckoutRequestID == nil || *p.CheckoutRequestID == c.CheckoutRequestID)
	success := c.Verdict().Status == mobilemoney.Success
	switch {
	case !verified, success && (c.ReceiptNumber == "" || c.Amount.IsZero()):
		w.cfg.Logger.WarnContext(ctx, "callback is only reason to ask", "callback_id", t.ID, "payment_id", p.ID,
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

// attemptOf finds the attempt of a prompt's callback, nil when it is not known yet.
func (w *Workers) attemptOf(
	ctx context.Context, t vault.TakenCallback, c mobilemoney.STKCallback,
) (*paymentsviews.PaymentRow, error) {
	if t.Ref != uuid.Nil {
		return w.payments.Attempt(ctx, id.Payment(t.Ref))
	}
	return w.payments.ByCheckout(ctx, c.CheckoutRequestID)
}

// promptReceipt is the money of a prompt.
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

// unknownPrompt keeps the money of a prompt that nobody here sent: it waits in suspense. Without verification it is no
// money at all.
func (w *Workers) unknownPrompt(ctx context.Context, t vault.TakenCallback, c mobilemoney.STKCallback) error {
	w.cfg.Logger.WarnContext(ctx, "callback names an unknown prompt", "callback_id", t.ID, "verified", t.Verified)
	if !t.Verified || c.Verdict().Status != mobilemoney.Success || c.ReceiptNumber == "" || c.Amount.IsZero() {
		return nil
	}
	return w.fromProvider(ctx, t, promptReceipt(t, c, paymentsviews.PaymentRow{
		Shortcode: w.cfg.Access.Platform.ShortCode,
	}))
}

// orReceived is the time of a payment; when the provider does not tell it, the time at which we were told.
func orReceived(at time.Time, t vault.TakenCallback) time.Time {
	if at.IsZero() {
		return t.ReceivedAt
	}
	return at
}

// readPaybill handles a paybill payment, told by the provider or the bill manager. It belongs to the organization of
// the shortcode, on a platform shortcode to nobody yet (docs/rules/money.md#money-without-an-owner). An unverified one
// only makes us ask about the prompt that it may belong to.
func (w *Workers) readPaybill(
	ctx context.Context, t vault.TakenCallback, parse func([]byte) (mobilemoney.C2B, error),
) error {
	c, err := parse(t.Body)
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "callback cannot be read", "callback_id", t.ID, "kind", t.Kind)
		return nil // kept for the record
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
		return nil // somebody else's till: the provider's addresses serve all its merchants
	}
	return w.fromProvider(ctx, t, paybillReceipt(t, c, org))
}

// ownerOf is whose money a paybill payment on a shortcode is; zero for nobody's yet. A token that was made for a former
// owner of the shortcode proves the money, but not whose it is. ours is false for a shortcode that nobody here has and
// for which no token was ever made: at a bare address only the shortcode says that the money is meant for us.
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
		return none, false, failure.NewUnavailable("shortcode_unknown", "The shortcode is just being registered.", 0,
			nil)
	case owner == nil:
		return none, t.Shortcode == shortcode, nil
	case t.Ref != uuid.Nil && t.Ref != shortcodeOf(owner.OrgID, shortcode).UUID():
		return none, true, nil
	}
	return owner.OrgID, true, nil
}

// paybillReceipt is the money of a paybill payment.
func paybillReceipt(t vault.TakenCallback, c mobilemoney.C2B, org id.Organization) commands.RecordReceipt {
	phone, ok := c.Phone()
	if !ok {
		phone = c.MSISDN // masked or hashed: shown as told
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

// unverifiedConfirmation asks about the prompt whose reference it gives, if any.
func (w *Workers) unverifiedConfirmation(ctx context.Context, t vault.TakenCallback, c mobilemoney.C2B) error {
	w.cfg.Logger.WarnContext(ctx, "unverified paybill payment", "callback_id", t.ID)
	p, err := w.payments.ByReference(ctx, c.BillRef)
	if err != nil || p == nil {
		return err
	}
	return w.fromProvider(ctx, t, commands.RequestCheck{PaymentID: p.ID})
}
