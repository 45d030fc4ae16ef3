// Package payments decides about prompt attempts, receipts and how an organization takes mobile money.
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

// Payments is the definition of payment attempts.
func Payments() aggregates.Definition[Payment, commands.PaymentCommand, events.PaymentEvent] {
	return aggregates.Definition[Payment, commands.PaymentCommand, events.PaymentEvent]{
		Category: commands.PaymentCategory, Missing: commands.ErrNoPayment, Evolve: evolvePayment,
		Decide: decidePayment,
		Owner:  ownerPayment,
		Commands: []commands.PaymentCommand{
			commands.InitiatePayment{}, commands.BeginSubmission{}, commands.AcceptPrompt{}, commands.RefusePrompt{},
			commands.DoubtPrompt{}, commands.RequestCheck{}, commands.RecordCheck{}, commands.RecordVerdict{},
			commands.SettlePayment{}, commands.ExpirePayment{},
		},
	}
}

// Stage is how far a prompt attempt has come. Source: docs/rules/payments.md#attempt-life.
type Stage uint8

// The stages. Succeeded is absorbing and may follow every other one.
const (
	StageNone Stage = iota
	StageCreated
	StageSent // submitting: the call may be on its way
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
	Invoice           id.Invoice
	Amount            money.Amount
	Environment       string // of the provider: commands.EnvironmentSandbox or EnvironmentProduction
	Stage             Stage
	CheckoutRequestID string // "" until the provider's answer or callback told it
	ExpiresAt         time.Time
	Unanswered        bool // the last status query failed
	Receipt           id.Receipt
	Provisional       bool       // Receipt is the provisional one, unclaimed yet
	Credited          id.Receipt // the receipt that carries the credit: stays the provisional one after it was claimed
}

// open tells whether a verdict is still wanted.
func (s Payment) open() bool { return s.Stage >= StageCreated && s.Stage <= StageInDoubt }

// ownerPayment is the organization that asked for the money.
func ownerPayment(s Payment) id.Organization { return s.Org }

// evolvePayment applies one recorded fact.
func evolvePayment(s Payment, e events.PaymentEvent) Payment {
	switch e := e.(type) {
	case events.PaymentInitiated:
		s = Payment{
			ID: e.PaymentID, Org: e.OrgID, Subscriber: e.SubscriberID, Invoice: e.InvoiceID, Amount: e.Amount,
			Environment: e.Environment, Stage: StageCreated, ExpiresAt: e.ExpiresAt,
		}
	case events.PromptSubmitting:
		s.Stage = StageSent
	case events.PromptAccepted:
		s.CheckoutRequestID = e.CheckoutRequestID
		if s.open() {
			s.Stage = StageAwaiting
		}
	case events.PromptInDoubt:
		s.Stage = StageInDoubt
	case events.PromptChecked:
		s.Unanswered = !e.Answered
	case events.PromptCheckRequested:
	case events.PaymentSucceeded:
		s.Stage, s.Receipt, s.Provisional, s.Credited = StageSucceeded, e.ReceiptID, e.Provisional, e.ReceiptID
	case events.ProvisionalClaimed:
		s.Receipt, s.Provisional = e.ReceiptID, false
	case events.ProvisionalSuperseded:
	case events.PaymentCancelled:
		s.Stage = StageCancelled
	case events.PaymentFailed:
		s.Stage = StageFailed
	case events.PaymentExpired:
		s.Stage = StageExpired
	}
	return s
}

// decidePayment dispatches.
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
	case commands.AcceptPrompt:
		return decideAcceptPrompt(s, c, now)
	case commands.RefusePrompt:
		return decideRefusePrompt(s, c, now)
	case commands.DoubtPrompt:
		return decideDoubtPrompt(s, c, now)
	case commands.RequestCheck:
		return decideRequestCheck(s, now)
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

// decideInitiatePayment begins the attempt; the account has reserved it already.
func decideInitiatePayment(s Payment, c commands.InitiatePayment, now time.Time) ([]events.PaymentEvent, error) {
	if s.Stage != StageNone {
		return nil, failure.NewConflict("payment_exists", "this payment exists already")
	}
	return []events.PaymentEvent{events.PaymentInitiated{
		PaymentID: c.PaymentID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID, Amount: c.Amount,
		Phone: c.Phone, Direct: c.Direct, Environment: c.Environment, Shortcode: c.Shortcode,
		CredentialsRef: c.CredentialsRef, AccountReference: c.AccountReference,
		InitiatedAt: now, ExpiresAt: now.Add(commands.PromptLifetime),
	}}, nil
}

// decideBeginSubmission gives the right to call to one caller only: whoever finds it taken must not call.
func decideBeginSubmission(s Payment, now time.Time) ([]events.PaymentEvent, error) {
	if s.Stage != StageCreated {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptSubmitting{PaymentID: s.ID, At: now}}, nil
}

// decideAcceptPrompt notes the provider's ids, also after a verdict: the callback may overtake the answer.
func decideAcceptPrompt(s Payment, c commands.AcceptPrompt, now time.Time) ([]events.PaymentEvent, error) {
	if s.CheckoutRequestID != "" {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptAccepted{
		PaymentID: s.ID, MerchantRequestID: c.MerchantRequestID, CheckoutRequestID: c.CheckoutRequestID,
		CustomerMessage: c.CustomerMessage, At: now,
	}}, nil
}

// decideRefusePrompt fails the attempt unless something better is known.
func decideRefusePrompt(s Payment, c commands.RefusePrompt, now time.Time) ([]events.PaymentEvent, error) {
	if !s.open() || s.CheckoutRequestID != "" {
		return nil, nil
	}
	return []events.PaymentEvent{events.PaymentFailed{
		PaymentID: s.ID, SubscriberID: s.Subscriber, Code: c.Code, Message: c.Message, By: commands.ByProvider, At: now,
	}}, nil
}

// decideDoubtPrompt doubts only a call that is on its way.
func decideDoubtPrompt(s Payment, c commands.DoubtPrompt, now time.Time) ([]events.PaymentEvent, error) {
	if s.Stage != StageSent {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptInDoubt{PaymentID: s.ID, Cause: c.Cause, At: now}}, nil
}

// Askable reports whether there is a question left for the provider, and a name to ask by. An attempt that failed may
// have succeeded since.
func (s Payment) Askable() bool { return s.Stage != StageSucceeded && s.CheckoutRequestID != "" }

// decideRequestCheck wants the provider asked, if there is anything to ask.
func decideRequestCheck(s Payment, now time.Time) ([]events.PaymentEvent, error) {
	if !s.Askable() {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptCheckRequested{PaymentID: s.ID, At: now}}, nil
}

// decideRecordCheck notes a query without a verdict.
func decideRecordCheck(s Payment, c commands.RecordCheck, now time.Time) ([]events.PaymentEvent, error) {
	if !s.open() {
		return nil, nil
	}
	return []events.PaymentEvent{events.PromptChecked{PaymentID: s.ID, Code: c.Code, Answered: c.Answered, At: now}},
		nil
}

// decideRecordVerdict maps a result code. A verdict never overwrites a success, nor an earlier verdict
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

// decideSettlePayment makes the attempt a success, once; what the query told is completed by the real receipt
// (docs/rules/money.md#provisional-receipts).
func decideSettlePayment(s Payment, c commands.SettlePayment, now time.Time) ([]events.PaymentEvent, error) {
	switch {
	case s.Stage == StageSucceeded && (c.ReceiptID == s.Receipt || c.ReceiptID == s.Credited):
		return nil, nil
	case s.Stage == StageSucceeded && c.Provisional:
		return []events.PaymentEvent{events.ProvisionalSuperseded{
			PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, ReceiptID: s.Credited,
			ProvisionalReceiptID: c.ReceiptID, At: now,
		}}, nil
	case s.Stage == StageSucceeded && !s.Provisional:
		return nil, failure.NewConflict("payment_settled", "this payment has another receipt already")
	case c.Amount.Cmp(s.Amount) != 0:
		return nil, failure.NewConflict("amount_mismatch", "the receipt is not of the amount that was asked for")
	case s.Stage == StageSucceeded:
		return []events.PaymentEvent{events.ProvisionalClaimed{
			PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, InvoiceID: s.Invoice,
			ReceiptID: c.ReceiptID, ReceiptNumber: c.ReceiptNumber, ProvisionalReceiptID: s.Receipt, At: now,
		}}, nil
	}
	return []events.PaymentEvent{events.PaymentSucceeded{
		PaymentID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, InvoiceID: s.Invoice, Amount: s.Amount,
		ReceiptID: c.ReceiptID, ReceiptNumber: c.ReceiptNumber, Provisional: c.Provisional, By: c.By, At: now,
	}}, nil
}

// decideExpirePayment gives up after a day, and never by time alone while the query itself fails
// (docs/rules/payments.md#verdicts). An attempt without a CheckoutRequestID cannot be asked about: for it time is all
// there is.
func decideExpirePayment(s Payment, now time.Time) ([]events.PaymentEvent, error) {
	switch {
	case !s.open():
		return nil, nil
	case now.Before(s.ExpiresAt):
		return nil, failure.NewConflict("payment_not_due", "this payment may still be answered")
	case s.CheckoutRequestID != "" && s.Unanswered:
		return nil, failure.NewConflict("payment_unanswered", "the provider could not be asked about this payment")
	}
	return []events.PaymentEvent{events.PaymentExpired{PaymentID: s.ID, SubscriberID: s.Subscriber, At: now}}, nil
}
