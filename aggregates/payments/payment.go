// Package payments has the rules of prompt attempts, of receipts, and of how an organization takes mobile money.
package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Payments defines the prompt attempts: one stream for each attempt.
func Payments() aggregates.Definition[Payment, commands.PaymentCommand, events.PaymentEvent] {
	return aggregates.Definition[Payment, commands.PaymentCommand, events.PaymentEvent]{
		Category: commands.PaymentCategory, Missing: commands.ErrNoPayment, Evolve: evolvePayment,
		Decide: decidePayment, Owner: ownerPayment, First: commands.InitiatePayment{},
		Commands: []commands.PaymentCommand{
			commands.InitiatePayment{}, commands.BeginSubmission{}, commands.AbandonPrompt{}, commands.AcceptPrompt{},
			commands.RefusePrompt{}, commands.DoubtPrompt{}, commands.RequestCheck{}, commands.RecordCheck{},
			commands.RecordVerdict{}, commands.SettlePayment{}, commands.ExpirePayment{},
		},
	}
}

// Stage is the progress of a prompt attempt. Source: docs/rules/payments.md#attempt-life.
type Stage uint8

// The stages. Every stage may become StageSucceeded, which never changes again.
const (
	StageNone Stage = iota
	StageCreated
	StageSent // submitting: the provider may have got the call
	StageAwaiting
	StageInDoubt
	StageCancelled
	StageFailed
	StageExpired
	StageSucceeded
)

// Payment is the state of one prompt attempt. The zero value is "does not exist".
type Payment struct {
	ID                id.Payment
	Org               id.Organization
	Subscriber        id.Subscriber
	Invoice           id.Invoice // zero when no invoice was named
	Amount            money.Amount
	Environment       string // of the provider: commands.EnvironmentSandbox or EnvironmentProduction
	Shortcode         string // to which the money goes
	Stage             Stage
	CheckoutRequestID string     // "" until the provider's answer or a callback gives it
	MerchantRequestID string     // the provider's id of the request, "" until its answer gives it
	InitiatedAt       time.Time  // UTC
	ExpiresAt         time.Time  // UTC
	Unanswered        bool       // the latest status query got no answer
	AskedAt           time.Time  // when the latest status query was asked for by somebody, UTC
	Receipt           id.Receipt // zero until the attempt succeeds
	Provisional       bool       // Receipt is a provisional one that no real receipt has claimed yet
	Credited          id.Receipt // the receipt that carries the credit: the provisional one, also after it was claimed
	Elsewhere         Elsewhere  // its money, while it has no success; the zero value = nobody put it anywhere
}

// Elsewhere is the real receipt of an attempt whose money a person put on another account than the attempt's.
type Elsewhere struct {
	Receipt id.Receipt
	Number  string
	Amount  money.Amount
}

// open reports whether the attempt has no verdict yet.
func (s Payment) open() bool { return s.Stage >= StageCreated && s.Stage <= StageInDoubt }

// ownerPayment is the organization that asked the customer for the money.
func ownerPayment(s Payment) id.Organization { return s.Org }

// evolvePayment applies one recorded event.
func evolvePayment(s Payment, e events.PaymentEvent) Payment {
	switch e := e.(type) {
	case events.PaymentInitiated:
		s = Payment{
			ID: e.PaymentID, Org: e.OrgID, Subscriber: e.SubscriberID, Invoice: e.InvoiceID, Amount: e.Amount,
			Environment: e.Environment, Shortcode: e.Shortcode, Stage: StageCreated, InitiatedAt: e.InitiatedAt,
			ExpiresAt: e.ExpiresAt,
		}
	case events.PromptSubmitting:
		s.Stage = StageSent
	case events.PromptAccepted:
		s.CheckoutRequestID, s.MerchantRequestID = e.CheckoutRequestID, e.MerchantRequestID
		if s.open() {
			s.Stage = StageAwaiting
		}
	case events.PromptInDoubt:
		s.Stage = StageInDoubt
	case events.PromptChecked:
		s.Unanswered = !e.Answered
	case events.PromptCheckRequested:
		s.AskedAt = e.At
	case events.PaymentSucceeded:
		s.Stage, s.Receipt, s.Provisional, s.Credited = StageSucceeded, e.ReceiptID, e.Provisional, e.ReceiptID
	case events.ProvisionalClaimed:
		s.Receipt, s.Provisional = e.ReceiptID, false
	case events.ProvisionalSuperseded:
	case events.PaymentPaidElsewhere:
		s.Elsewhere = Elsewhere{Receipt: e.ReceiptID, Number: e.ReceiptNumber, Amount: e.Amount}
	case events.PaymentCancelled:
		s.Stage = StageCancelled
	case events.PaymentFailed:
		s.Stage = StageFailed
	case events.PaymentExpired:
		s.Stage = StageExpired
	}
	return s
}

// decidePayment dispatches; every command but the first needs an attempt that exists.
func decidePayment(s Payment, c commands.PaymentCommand, now time.Time) ([]events.PaymentEvent, error) {
	if initiate, ok := c.(commands.InitiatePayment); ok {
		return decideInitiatePayment(s, initiate, now)
	}
	if s.Stage == StageNone {
		return nil, commands.ErrNoPayment()
	}
	switch c := c.(type) {
	case commands.InitiatePayment:
	case commands.BeginSubmission:
		return decideBeginSubmission(s, now)
	case commands.AbandonPrompt:
		return decideAbandonPrompt(s, now)
	case commands.AcceptPrompt:
		return decideAcceptPrompt(s, c, now)
	case commands.RefusePrompt:
		return decideRefusePrompt(s, c, now)
	case commands.DoubtPrompt:
		return decideDoubtPrompt(s, c, now)
	case commands.RequestCheck:
		return decideRequestCheck(s, c, now)
	case commands.RecordCheck:
		return decideRecordCheck(s, c, now)
	case commands.RecordVerdict:
		return decideRecordVerdict(s, c, now)
	case commands.SettlePayment:
		return decideSettlePayment(s, c, now)
	case commands.ExpirePayment:
		return decideExpirePayment(s, now)
	}
	return nil, nil
}

// decideInitiatePayment begins the attempt. The account reserved the amount before (ReservePrompt).
func decideInitiatePayment(s Payment, c commands.InitiatePayment, now time.Time) ([]events.PaymentEvent, error) {
	if s.Stage != StageNone {
		return nil, failure.NewConflict("payment_exists", "This payment exists already.")
	}
	return []events.PaymentEvent{events.PaymentInitiated{
		PaymentID: c.PaymentID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID, Amount: c.Amount,
		Phone: c.Phone, Direct: c.Direct, Environment: c.Environment, Shortcode: c.Shortcode,
		CredentialsRef: c.CredentialsRef, AccountReference: c.AccountReference,
		InitiatedAt: now, ExpiresAt: now.Add(commands.PromptLifetime),
	}}, nil
}

// late reports that the attempt is too old to be sent: nobody waits for it any more.
func (s Payment) late(now time.Time) bool { return now.Sub(s.InitiatedAt) >= commands.PromptPatience }

// decideBeginSubmission gives one caller the right to call the provider. A caller that gets no event must not call. An
// attempt that was not sent in time is refused, so that no handset is asked hours later.
func decideBeginSubmission(s Payment, now time.Time) ([]events.PaymentEvent, error) {
	switch {
	case s.Stage != StageCreated:
		return nil, nil
	case s.late(now):
		return nil, failure.NewConflict("prompt_too_late", "The phone was not asked in time. Start a new payment.")
	}
	return []events.PaymentEvent{events.PromptSubmitting{PaymentID: s.ID, At: now}}, nil
}

// decideAbandonPrompt ends an attempt that decideBeginSubmission would refuse for its age.
func decideAbandonPrompt(s Payment, now time.Time) ([]events.PaymentEvent, error) {
	if s.Stage != StageCreated || !s.late(now) {
		return nil, nil
	}
	return []events.PaymentEvent{events.PaymentFailed{
		PaymentID: s.ID, SubscriberID: s.Subscriber, Code: "not_sent",
		Message: "The phone was not asked in time. Start a new payment.", By: commands.ByPlatform, At: now,
	}}, nil
}

// decideAcceptPrompt records the provider's ids, also after a verdict: the callback can arrive before the answer to the
// call.
func decideAcceptPrompt(s Payment, c commands.AcceptPrompt, now time.Time) ([]events.PaymentEvent, error) {
	if s.CheckoutRequestID != "" {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptAccepted{
		PaymentID: s.ID, MerchantRequestID: c.MerchantRequestID, CheckoutRequestID: c.CheckoutRequestID,
		CustomerMessage: c.CustomerMessage, At: now,
	}}, nil
}

// decideRefusePrompt fails an attempt that is open and that the provider has not accepted.
func decideRefusePrompt(s Payment, c commands.RefusePrompt, now time.Time) ([]events.PaymentEvent, error) {
	if !s.open() || s.CheckoutRequestID != "" {
		return nil, nil
	}
	return []events.PaymentEvent{events.PaymentFailed{
		PaymentID: s.ID, SubscriberID: s.Subscriber, Code: c.Code, Message: c.Message, By: commands.ByProvider, At: now,
	}}, nil
}

// decideDoubtPrompt applies only while the call is being made.
func decideDoubtPrompt(s Payment, c commands.DoubtPrompt, now time.Time) ([]events.PaymentEvent, error) {
	if s.Stage != StageSent {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptInDoubt{PaymentID: s.ID, Cause: c.Cause, At: now}}, nil
}

// Askable reports whether the provider can still be asked about the attempt. A failed attempt can be asked about,
// because it may have succeeded later; without a CheckoutRequestID no question is possible.
func (s Payment) Askable() bool { return s.Stage != StageSucceeded && s.CheckoutRequestID != "" }

// askedOnce is how long a status query stands for every other one that is asked for: the provider's answer comes within
// it, and nobody makes the platform ask without bound.
const askedOnce = 10 * time.Second

// decideRequestCheck asks for a status query when the attempt is Askable, and was not asked about just before.
func decideRequestCheck(s Payment, c commands.RequestCheck, now time.Time) ([]events.PaymentEvent, error) {
	if !s.Askable() || !c.Heard && !s.AskedAt.IsZero() && now.Before(s.AskedAt.Add(askedOnce)) {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptCheckRequested{PaymentID: s.ID, At: now}}, nil
}

// decideRecordCheck records a status query that gave no verdict.
func decideRecordCheck(s Payment, c commands.RecordCheck, now time.Time) ([]events.PaymentEvent, error) {
	if !s.open() {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptChecked{PaymentID: s.ID, Code: c.Code, Answered: c.Answered, At: now}},
		nil
}

// decideRecordVerdict maps a result code. A verdict never replaces a success or an earlier verdict
// (docs/rules/payments.md#verdicts).
func decideRecordVerdict(s Payment, c commands.RecordVerdict, now time.Time) ([]events.PaymentEvent, error) {
	if !s.open() {
		return nil, nil
	}
	var learned []events.PaymentEvent
	if s.CheckoutRequestID == "" && c.CheckoutRequestID != "" {
		learned = append(learned, events.PromptAccepted{
			PaymentID: s.ID, CheckoutRequestID: c.CheckoutRequestID, At: now,
		})
	}
	switch OutcomeOf(c.Code) {
	case OutcomeCancelled:
		return append(learned, events.PaymentCancelled{
			PaymentID: s.ID, SubscriberID: s.Subscriber, Code: c.Code, Message: c.Message, By: c.By, At: now,
		}), nil
	case OutcomePending:
		return append(learned, events.PromptChecked{PaymentID: s.ID, Code: c.Code, Answered: true, At: now}), nil
	default:
		return append(learned, events.PaymentFailed{
			PaymentID: s.ID, SubscriberID: s.Subscriber, Code: c.Code, Message: c.Message, By: c.By, At: now,
		}), nil
	}
}

// decideSettlePayment makes the attempt a success, once. A success by a provisional receipt is completed by the real
// receipt (docs/rules/money.md#provisional-receipts).
func decideSettlePayment(s Payment, c commands.SettlePayment, now time.Time) ([]events.PaymentEvent, error) {
	if c.By == commands.ByOperator {
		return decideSettleByHand(s, c, now), nil
	}
	switch {
	case s.Stage == StageSucceeded && (c.ReceiptID == s.Receipt || c.ReceiptID == s.Credited):
		return nil, nil
	case s.Stage == StageSucceeded && c.Provisional:
		return s.superseded(s.Credited, c.ReceiptID, now), nil
	case c.Provisional && !s.Elsewhere.Receipt.IsZero():
		known := commands.SettlePayment{
			ReceiptID: s.Elsewhere.Receipt, ReceiptNumber: s.Elsewhere.Number, By: commands.ByOperator,
		}
		return append(s.succeeded(known, s.Elsewhere.Amount, now),
			s.superseded(s.Elsewhere.Receipt, c.ReceiptID, now)...), nil
	case s.Stage == StageSucceeded && !s.Provisional:
		return nil, paymentSettled()
	case c.Amount.Cmp(s.Amount) != 0:
		return nil, failure.NewConflict("amount_mismatch",
			"The amount of the receipt is not the amount of this payment.")
	case s.Stage == StageSucceeded:
		return []events.PaymentEvent{events.ProvisionalClaimed{
			PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, InvoiceID: s.Invoice,
			ReceiptID: c.ReceiptID, ReceiptNumber: c.ReceiptNumber, ProvisionalReceiptID: s.Receipt, At: now,
		}}, nil
	}
	return s.succeeded(c, s.Amount, now), nil
}

// paymentSettled refuses another real receipt.
func paymentSettled() error {
	return failure.NewConflict("payment_settled", "This payment has another receipt already.")
}

// Fits reports whether a receipt can be the attempt's money, as far as amount, shortcode, environment and time tell
// (docs/rules/money.md#provisional-receipts). Cash has no shortcode, and receipts of old have no environment.
func (s Payment) Fits(r Receipt) bool {
	return r.Amount == s.Amount && r.Channel != commands.ChannelCash && r.Shortcode == s.Shortcode &&
		(r.Environment == "" || r.Environment == s.Environment) &&
		r.PaidAt.After(s.InitiatedAt.Add(-commands.ReceiptAhead)) &&
		r.PaidAt.Before(s.InitiatedAt.Add(commands.ReceiptPatience))
}

// MayTake refuses a person's word that a receipt is the attempt's money: it cannot be when it does not fit, nor when
// the attempt has another real receipt. Fails: attempt_does_not_fit, payment_settled.
func (s Payment) MayTake(r Receipt) error {
	switch {
	case s.Receipt == r.ID:
		return nil
	case !s.Fits(r):
		return failure.NewConflict("attempt_does_not_fit",
			"This money cannot be that of the named payment: the amount, the time or the shortcode is another one, "+
				"or it is cash.")
	case s.Stage == StageSucceeded && !s.Provisional:
		return paymentSettled()
	}
	return nil
}

// decideSettleByHand follows a person who put the attempt's money on an account, or the matching rules that did so
// before the attempt was known. On the attempt's own account it makes
// the attempt a success: its money came, whatever became of the attempt before, and also when it is another amount than
// was asked for. A success that only a provisional receipt carries is carried by the real one from then on, on
// whichever account it is. Money on another account is remembered until the attempt succeeds, so that it is not
// credited again. Any other success keeps the receipt that it has (docs/rules/payments.md#settled-by-hand).
func decideSettleByHand(s Payment, c commands.SettlePayment, now time.Time) []events.PaymentEvent {
	switch {
	case s.Stage == StageSucceeded && s.Provisional && !c.Provisional:
		return append(s.succeeded(c, c.Amount, now), s.superseded(c.ReceiptID, s.Receipt, now)...)
	case s.Stage == StageSucceeded:
		return nil
	case c.SubscriberID == s.Subscriber:
		return s.succeeded(c, c.Amount, now)
	case c.Provisional || c.ReceiptID == s.Elsewhere.Receipt:
		return nil
	}
	return []events.PaymentEvent{events.PaymentPaidElsewhere{
		PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, ReceiptID: c.ReceiptID,
		ReceiptNumber: c.ReceiptNumber, Amount: c.Amount, PaidTo: c.SubscriberID, At: now,
	}}
}

// superseded makes the event that a provisional receipt is the same money as another one, which carries the credit.
func (s Payment) superseded(carrier, provisional id.Receipt, now time.Time) []events.PaymentEvent {
	return []events.PaymentEvent{events.ProvisionalSuperseded{
		PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, ReceiptID: carrier,
		ProvisionalReceiptID: provisional, At: now,
	}}
}

// succeeded makes the event of the attempt's success by a receipt over an amount.
func (s Payment) succeeded(c commands.SettlePayment, amount money.Amount, now time.Time) []events.PaymentEvent {
	return []events.PaymentEvent{events.PaymentSucceeded{
		PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, InvoiceID: s.Invoice, Amount: amount,
		ReceiptID: c.ReceiptID, ReceiptNumber: c.ReceiptNumber, Provisional: c.Provisional, By: c.By, At: now,
	}}
}

// decideExpirePayment ends an attempt without a verdict after commands.PromptLifetime. It refuses while the status
// query itself fails (docs/rules/payments.md#verdicts), except for an attempt without a CheckoutRequestID, which cannot
// be asked about.
func decideExpirePayment(s Payment, now time.Time) ([]events.PaymentEvent, error) {
	switch {
	case !s.open():
		return nil, nil
	case now.Before(s.ExpiresAt):
		return nil, failure.NewConflict("payment_not_due",
			"This payment may still be answered. Try again after it expires.")
	case s.CheckoutRequestID != "" && s.Unanswered:
		return nil, failure.NewConflict("payment_unanswered",
			"The provider could not be asked about this payment. Try again later.")
	}
	return []events.PaymentEvent{events.PaymentExpired{PaymentID: s.ID, SubscriberID: s.Subscriber, At: now}}, nil
}
