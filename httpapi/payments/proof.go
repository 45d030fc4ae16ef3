package paymentsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// proofResponse is how a receipt is known and where its money was: docs/rules/money.md#proof-of-a-receipt.
type proofResponse struct {
	Receipt receiptDetailResponse `json:"receipt"`
	Steps   []proofStep           `json:"steps" doc:"the oldest first; with those of the receipt that belongs with it"`
	More    bool                  `json:"more" doc:"there are later steps than these"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *proofResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Receipt.NameSubscribers(name)
	for i := range r.Steps {
		s := &r.Steps[i]
		s.Subscriber, s.From = name(null.Zero(s.SubscriberID)), name(null.Zero(s.FromID))
	}
}

// proofStepKind is one of paymentsviews.ProofStepKinds.
type proofStepKind string

// Texts implements httpapi.Enumerated.
func (proofStepKind) Texts() []string { return paymentsviews.ProofStepKinds }

// proofStep is one recorded event about the money.
type proofStep struct {
	Position     int64                  `json:"position" doc:"of the event in the log"`
	EventID      id.Event               `json:"eventId"`
	ReceiptID    id.Receipt             `json:"receiptId"`
	Kind         proofStepKind          `json:"kind"`
	At           time.Time              `json:"at"`
	Actor        httpapi.AuditActor     `json:"actor"`
	Sighting     *string                `json:"sighting" doc:"how it was seen, as the sightings of the receipt"`
	Rule         *string                `json:"rule" doc:"how it was found; of a refund: way, reference, failure"`
	Reason       *string                `json:"reason" doc:"null: none, or a person was forgotten"`
	Amount       *httpapi.Number        `json:"amount" doc:"major units; null: not said, or not this organization's"`
	Shortcode    *string                `json:"shortcode"`
	SubscriberID *id.Subscriber         `json:"subscriberId" doc:"whose account has or gets the money"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber"`
	FromID       *id.Subscriber         `json:"fromId" doc:"from whose account it leaves"`
	From         *httpapi.SubscriberRef `json:"from"`
	Invoice      *proofInvoice          `json:"invoice"`
	PaymentID    *id.Payment            `json:"paymentId"`
	RelatedID    *id.Receipt            `json:"relatedReceiptId" doc:"another receipt that it names"`
	RefundID     *id.Refund             `json:"refundId"`
	Credit       bool                   `json:"credit" doc:"the money was credit before, or is credit now"`
	Message      *proofMessage          `json:"message" doc:"the provider's message from which the step came"`
}

// proofInvoice is an invoice that the money pays or paid.
type proofInvoice struct {
	ID     id.Invoice `json:"id"`
	Number *string    `json:"number" doc:"null: not known yet"`
}

// proofMessage is a message of the provider as it came.
type proofMessage struct {
	Missing    *string    `json:"missing" enum:"removed,erased" doc:"why it is not shown; the rest is then null"`
	Kind       *string    `json:"kind"`
	ReceivedAt *time.Time `json:"receivedAt"`
	From       *string    `json:"from" doc:"address of the sender"`
	Verified   *bool      `json:"verified" doc:"false: it proved nothing and only made us ask the provider"`
	ProvenBy   *string    `json:"provenBy" enum:"secret_address,known_sender"`
	Content    *string    `json:"content" doc:"JSON, fields in the order of the alphabet, without balances"`
	Cut        bool       `json:"cut" doc:"the content is longer"`
}

// proof answers with all that is known about a receipt.
func (a Receipts) proof(ctx context.Context, c *httpapi.Call) error {
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	detail, err := a.one().Find(ctx, c, receipt)
	if err != nil {
		return err
	}
	proof, err := a.Proofs.Of(ctx, c.Org.ID, receipt)
	if err != nil {
		return err
	}
	var invoices []id.Invoice
	var users []id.User
	for _, s := range proof.Steps {
		if !s.InvoiceID.IsZero() {
			invoices = append(invoices, s.InvoiceID)
		}
		if user := proofUser(s); !user.IsZero() {
			users = append(users, user)
		}
	}
	numbers, err := a.Invoices.Numbers(ctx, c.Org.ID, invoices)
	if err != nil {
		return err
	}
	names, err := a.Users.Names(ctx, c.Org.ID, users)
	if err != nil {
		return err
	}
	out := proofResponse{Receipt: showDetail(detail), Steps: []proofStep{}, More: proof.More}
	for _, s := range proof.Steps {
		shown := showProofStep(s, detail.row.Currency, names)
		if !s.InvoiceID.IsZero() {
			shown.Invoice = &proofInvoice{ID: s.InvoiceID, Number: null.Of(numbers[s.InvoiceID])}
		}
		if m, told := proof.Messages[s.Position]; told {
			shown.Message = showProofMessage(m)
		}
		out.Steps = append(out.Steps, shown)
	}
	return httpapi.SendNamed(ctx, c, 200, out)
}

// proofUser is the member of staff who acted; zero = somebody or something else.
func proofUser(s paymentsviews.ProofStep) id.User {
	if s.ActorKind != string(events.ActorUser) {
		return id.User{}
	}
	user, _ := id.Parse[id.User](s.ActorID)
	return user
}

// showProofStep writes null for what the event does not say.
func showProofStep(s paymentsviews.ProofStep, c money.Currency, names map[id.User]string) proofStep {
	out := proofStep{
		Position: s.Position, EventID: s.EventID, ReceiptID: s.ReceiptID, Kind: proofStepKind(s.Kind), At: s.At,
		Actor: httpapi.AuditActor{
			ID: null.Of(s.ActorID), Kind: httpapi.ActorKind(s.ActorKind), Name: null.Of(names[proofUser(s)]),
		},
		Sighting: null.Of(s.Sighting), Rule: null.Of(s.Rule), Reason: null.Text(s.Reason),
		Shortcode: null.Of(s.Shortcode), SubscriberID: null.Of(s.SubscriberID), FromID: null.Of(s.FromID),
		PaymentID: null.Of(s.PaymentID), RelatedID: null.Of(s.RelatedID), RefundID: null.Of(s.RefundID),
		Credit: s.Credit,
	}
	if s.AmountMinor != nil {
		amount := money.Of(*s.AmountMinor, c).Number()
		out.Amount = &amount
	}
	return out
}

// showProofMessage writes null for what is not known of a message.
func showProofMessage(m paymentscases.ProofMessage) *proofMessage {
	if m.Missing != "" {
		return &proofMessage{Missing: &m.Missing}
	}
	out := &proofMessage{
		Kind: &m.Kind, ReceivedAt: null.Time(m.ReceivedAt), Verified: &m.Verified, ProvenBy: null.Of(m.ProvenBy),
		Content: null.Of(m.Content), Cut: m.Cut,
	}
	if m.From.IsValid() {
		from := m.From.String()
		out.From = &from
	}
	return out
}
