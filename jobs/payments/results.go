package paymentsjobs

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Kinds of the provider's messages about requests of ours that it has acknowledged. A row in the inbox has the kind of
// the token behind them, because that says what was asked.
const (
	CallbackResult  = "result"
	CallbackTimeout = "result_timeout"
)

// Kinds of tokens in the addresses of results. Each is about one payment attempt, receipt or refund; they are known for
// as long as those of attempts (vault.PromptSecretsKept).
const (
	TokenPromptStatus  = "status_prompt"
	TokenReceiptStatus = "status_receipt"
	TokenRefundStatus  = "status_refund"
	TokenReversal      = "reversal"
	TokenPull          = "pull" // of a shortcode; nothing that comes there says anything
)

// ofResult reports whether a kind of callback is about a request that the provider has acknowledged.
func ofResult(kind string) bool { return kind == CallbackResult || kind == CallbackTimeout }

// resultKind is the kind of a row in the inbox: what came, and what was asked.
func resultKind(kind, token string) string { return kind + " " + token }

// OfResult gives the addresses for the result of a request about one attempt, receipt or refund. Asked again, they are
// the same.
func (a Addresses) OfResult(
	ctx context.Context, kind string, about uuid.UUID, org id.Organization, shortcode string,
) (mobilemoney.ResultURLs, error) {
	root, err := a.root()
	if err != nil {
		return mobilemoney.ResultURLs{}, err
	}
	token, err := a.Tokens.Issue(ctx, vault.CallbackOwner{Kind: kind, Ref: about, OrgID: org, Shortcode: shortcode})
	if err != nil {
		return mobilemoney.ResultURLs{}, err
	}
	return mobilemoney.ResultURLs{
		Result:  root + "/webhooks/mobile-money/result/" + token.Reveal(),
		Timeout: root + "/webhooks/mobile-money/timeout/" + token.Reveal(),
	}, nil
}

// proves reports whether a token is one for a kind of callback.
func proves(callback, token string) bool {
	if ofResult(callback) {
		switch token {
		case TokenPromptStatus, TokenReceiptStatus, TokenRefundStatus, TokenReversal, TokenPull:
			return true
		}
		return false
	}
	return token == tokenOf(callback)
}

// known gives the organization of a token that this program has read or made.
func known(tokens *vault.CallbackSecrets, callback string, token secrets.Text) (id.Organization, bool) {
	if !ofResult(callback) {
		return tokens.Known(tokenOf(callback), token)
	}
	for _, kind := range []string{TokenReversal, TokenRefundStatus, TokenPromptStatus, TokenReceiptStatus, TokenPull} {
		if org, ok := tokens.Known(kind, token); ok {
			return org, true
		}
	}
	return id.Organization{}, false
}

// readResult handles what the provider says about a request of ours. Only the token of the address proves it and says
// what it is about; without one it changes nothing (docs/rules/payments.md#results).
func (w *Workers) readResult(ctx context.Context, t vault.TakenCallback) (ending, error) {
	came, asked, _ := strings.Cut(t.Kind, " ")
	if !t.Verified || t.Ref == uuid.Nil {
		w.cfg.Logger.WarnContext(ctx, "result without a known token", "callback_id", t.ID)
		return ending{}, nil
	}
	if asked == TokenPull { // the provider tells of the registration; payments come as the answer to a question
		return ending{}, nil
	}
	r, err := mobilemoney.ParseResult(t.Body)
	switch {
	case err != nil:
		return w.unreadable(ctx, t), nil
	case came == CallbackTimeout && asked == TokenReversal:
		return ending{}, w.fromProvider(ctx, t, commands.DoubtRefund{
			RefundID: id.Refund(t.Ref), Cause: commands.DoubtTimedOut, Message: r.Text,
		})
	case came == CallbackTimeout: // the sweep, or a person, asks again
		return ending{}, nil
	}
	switch asked {
	case TokenReversal:
		return w.reversalResult(ctx, t, r)
	case TokenRefundStatus:
		return ending{}, w.refundStatus(ctx, t, r)
	case TokenPromptStatus:
		return ending{}, w.promptStatus(ctx, t, r)
	case TokenReceiptStatus:
		return ending{}, w.receiptStatus(ctx, t, r)
	}
	return ending{}, nil
}

// resultReversedBefore is the provider's code for a payment that was sent back already. Somebody else may have done it,
// so a person finds out; a second reversal of ours is never made.
const resultReversedBefore = "R000001"

// reversalResult reports how a reversal ended. One about another payment is no answer.
func (w *Workers) reversalResult(ctx context.Context, t vault.TakenCallback, r mobilemoney.Result) (ending, error) {
	refund := id.Refund(t.Ref)
	state, _, err := bus.LoadUnchecked[payments.Refund](ctx, w.cfg.Bus, refund)
	if err != nil {
		return ending{}, err
	}
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, state.Receipt)
	switch {
	case err != nil:
		return ending{}, err
	case r.OriginalNumber != "" && !strings.EqualFold(r.OriginalNumber, receipt.Number),
		r.Done() && !r.Amount.IsZero() && r.Amount != state.Amount:
		return w.unreadable(ctx, t), nil
	case r.Done():
		return ending{}, w.fromProvider(ctx, t, commands.ConcludeRefund{
			RefundID: refund, Completed: true, Reference: strings.ToUpper(r.TransactionID),
		})
	case r.Code == resultReversedBefore:
		return ending{}, w.fromProvider(ctx, t, commands.DoubtRefund{
			RefundID: refund, Cause: commands.DoubtReversedBefore, Message: r.Text,
		})
	}
	return ending{}, w.fromProvider(ctx, t, commands.ConcludeRefund{
		RefundID: refund, Code: "provider_refused", Message: r.Text,
	})
}

// refundStatus completes a reversal that the provider knows to be done: the payment back has moved its money, or the
// payment itself is reversed. Anything else decides nothing, because the reversal may still be on its way.
func (w *Workers) refundStatus(ctx context.Context, t vault.TakenCallback, r mobilemoney.Result) error {
	refund := id.Refund(t.Ref)
	state, _, err := bus.LoadUnchecked[payments.Refund](ctx, w.cfg.Bus, refund)
	if err != nil {
		return err
	}
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, state.Receipt)
	if err != nil {
		return err
	}
	of := strings.ToUpper(r.ReceiptNumber)
	back := state.Origin != "" && r.Completed() && of != "" && of != strings.ToUpper(receipt.Number)
	if !back && !(r.Reversed() && (of == "" || of == strings.ToUpper(receipt.Number))) {
		w.cfg.Logger.InfoContext(ctx, "reversal is still in doubt", "refund_id", refund, "result", r)
		return nil
	}
	return w.fromProvider(ctx, t, commands.ConcludeRefund{RefundID: refund, Completed: true, Reference: of})
}

// paidTo reports whether a result tells of money that somebody paid to a shortcode: the provider knows its number and
// amount, and the shortcode is the one that was paid and not the one that paid. What the provider names a loan, a
// transfer or a reversal is no payment, as in its statement (docs/rules/money.md#reconciliation).
func paidTo(r mobilemoney.Result, shortcode string) bool {
	may := r.Kind == "" || r.Kind.OfCustomer() || r.Kind == mobilemoney.LineBusiness
	return may && r.Completed() && r.ReceiptNumber != "" && !r.Amount.IsZero() && r.Debit.Number != shortcode &&
		(r.Credit.Number == "" || r.Credit.Number == shortcode)
}

// promptStatus records the receipt of a prompt, which claims the provisional one.
func (w *Workers) promptStatus(ctx context.Context, t vault.TakenCallback, r mobilemoney.Result) error {
	p, err := w.payments.Attempt(ctx, id.Payment(t.Ref))
	if err != nil || p == nil || !paidTo(r, p.Shortcode) {
		return err
	}
	receipt := statusReceipt(t, r)
	receipt.OrgID, receipt.Environment, receipt.Channel = p.OrgID, p.Environment, commands.ChannelPrompt
	receipt.Shortcode, receipt.PaymentID = p.Shortcode, p.ID
	if p.CheckoutRequestID != nil {
		receipt.CheckoutRequestID = *p.CheckoutRequestID
	}
	return w.recordMoney(ctx, t, receipt)
}

// receiptStatus records money that somebody asked about by its number. The token belongs to this number alone, so an
// answer about another one is none.
func (w *Workers) receiptStatus(ctx context.Context, t vault.TakenCallback, r mobilemoney.Result) error {
	owner, err := w.cfg.Addresses.Tokens.Owner(ctx, TokenReceiptStatus, t.Ref)
	if err != nil || owner == nil || !paidTo(r, owner.Shortcode) {
		return err
	}
	receipt := statusReceipt(t, r)
	receipt.OrgID, receipt.Channel, receipt.Shortcode = owner.OrgID, commands.ChannelPaybill, owner.Shortcode
	for _, environment := range []string{commands.EnvironmentSandbox, commands.EnvironmentProduction} {
		if commands.ReceiptID(environment, receipt.ReceiptNumber).UUID() == t.Ref {
			receipt.Environment = environment
			return w.recordMoney(ctx, t, receipt)
		}
	}
	w.cfg.Logger.WarnContext(ctx, "result is about another receipt", "callback_id", t.ID)
	return nil
}

// statusReceipt has what a result says about money.
func statusReceipt(t vault.TakenCallback, r mobilemoney.Result) commands.RecordReceipt {
	return commands.RecordReceipt{
		Provider: commands.ProviderMobileMoney, ReceiptNumber: strings.ToUpper(r.ReceiptNumber), Amount: r.Amount,
		PaidAt: orReceived(r.FinalisedAt, t), PayerPhone: personal.Of(r.Debit.Number),
		PayerName: personal.Of(r.Debit.Name), Sighting: commands.SightingStatus,
	}
}

// sweepProvisional asks about the receipts that only a status query has told of, page by page.
func (w *Workers) sweepProvisional(ctx context.Context) error {
	after := id.Receipt{}
	for ctx.Err() == nil {
		page, err := w.receipts.Provisional(ctx, w.cfg.Clock.Now().Add(-vault.PromptSecretsKept), after, sweepPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			after = r.ID
			if _, err := w.reach(ctx, r.OrgID, r.Environment, r.Shortcode); err != nil {
				continue // without an initiator there is nobody to ask
			}
			if err := w.again(ctx, commands.AskPromptStatus{PaymentID: r.PaymentID}); err != nil {
				return err
			}
		}
		if len(page) < sweepPage {
			return nil
		}
	}
	return ctx.Err()
}
