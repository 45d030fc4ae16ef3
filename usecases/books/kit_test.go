package bookscases_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// world is a log in memory that the real rules write. In a story it follows up on events as the processes do, at once;
// in a simulation the processes themselves hear of them.
type world struct {
	t         rapid.TB
	heard     func(events.Envelope) // each event that is written; nil when nobody listens
	now       time.Time
	log       []events.Envelope
	revisions map[string]uint64
	org       id.Organization
	amina     id.Subscriber
	brian     id.Subscriber
	sub       id.Subscription // Amina's, prepaid, monthly, 1,000
	after     map[string]int64

	orgs     *rules[identity.Organization, commands.OrganizationCommand, events.OrganizationEvent]
	people   *rules[subscribers.Subscriber, commands.SubscriberCommand, events.SubscriberEvent]
	subs     *rules[subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent]
	accounts *rules[billing.Account, commands.AccountCommand, events.AccountEvent]
	series   *rules[billing.Numbering, commands.NumberingCommand, events.NumberingEvent]
	receipts *rules[payments.Receipt, commands.ReceiptCommand, events.ReceiptEvent]
	prompts  *rules[payments.Payment, commands.PaymentCommand, events.PaymentEvent]
	payouts  *rules[payments.Refund, commands.RefundCommand, events.RefundEvent]
}

// rules are the states of one kind of aggregate in a world.
type rules[S any, C commands.Command, E events.Event] struct {
	w      *world
	def    aggregates.Definition[S, C, E]
	states map[id.Any]S
}

// under gives a world the rules of one kind of aggregate, without any state.
func under[S any, C commands.Command, E events.Event](w *world, def aggregates.Definition[S, C, E]) *rules[S, C, E] {
	return &rules[S, C, E]{w, def, map[id.Any]S{}}
}

// emptyWorld has rules and no events, and nobody in it.
func emptyWorld(t rapid.TB) *world {
	w := &world{
		t: t, now: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC), revisions: map[string]uint64{},
		after: map[string]int64{},
	}
	w.orgs, w.people = under(w, identity.Organizations()), under(w, subscribers.Subscribers())
	w.subs, w.accounts = under(w, subscribers.Subscriptions()), under(w, billing.Accounts())
	w.series, w.receipts = under(w, billing.NumberSeries()), under(w, payments.Receipts())
	w.prompts, w.payouts = under(w, payments.Payments()), under(w, payments.Refunds())
	return w
}

// newWorld makes an organization with two subscribers, of whom Amina has a subscription.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	w.org, w.sub = id.New[id.Organization](), id.New[id.Subscription]()
	w.amina, w.brian = id.New[id.Subscriber](), id.New[id.Subscriber]()
	w.orgs.do(coretest.NewOrganization(w.org, "acme"))
	w.people.do(coretest.NewSubscriber(w.amina, w.org, 1))
	w.people.do(coretest.NewSubscriber(w.brian, w.org, 2))
	amina := w.subscription(w.sub, w.amina, events.Prepaid, calendar.Month)
	amina.Username = personal.Of("amina")
	w.subs.do(amina)
	return w
}

// subscription is a new subscription for 1,000, with its id as username.
func (w *world) subscription(
	of id.Subscription, who id.Subscriber, mode events.BillingMode, unit calendar.Period,
) commands.CreateSubscription {
	return commands.CreateSubscription{
		SubscriptionID: of, OrgID: w.org, SubscriberID: who, PlanID: id.Derive[id.Plan]("home"), PlanVersion: 1,
		Timezone: "Africa/Nairobi", Username: personal.Of(of.String()), Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Price: kes(1000), Mode: mode, Period: unit,
		},
	}
}

// kes is an amount of whole shillings.
func kes(units int64) money.Amount { return money.Major(units, money.KES) }

// key is the key of a unique value in these tests.
func key(kind, value string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(kind+" "+value))
}

// try decides a command and records the events, with the claims around them.
func (r *rules[S, C, E]) try(c C) ([]E, error) {
	of := c.Target().ID
	list, err := r.def.Decide(r.states[of], c, r.w.now)
	if err != nil {
		return nil, err
	}
	r.record(of, list)
	return list, nil
}

// do is try with what follows from the events. The test fails when the command is refused.
func (r *rules[S, C, E]) do(c C) []E {
	r.w.t.Helper()
	list, err := r.try(c)
	if err != nil {
		r.w.t.Fatalf("%s: %v", c.CommandName(), err)
	}
	for _, e := range list {
		r.w.follow(e)
	}
	return list
}

// record adds the events of one append to the log.
func (r *rules[S, C, E]) record(of id.Any, list []E) {
	before, after := r.states[of], r.states[of]
	for _, e := range list {
		after = r.def.Evolve(after, e)
	}
	r.states[of] = after
	meta := events.Metadata{CommandID: id.New[id.Command](), AggregateID: of, OrgID: r.def.Owner(after), At: r.w.now}
	var had, has []commands.Claim
	if r.def.Claims != nil {
		had, has = r.def.Claims(before), r.def.Claims(after)
	}
	r.w.claim(meta, has, had, func(c commands.Claim) events.Event {
		return events.ClaimTaken{Kind: c.Kind, OwnerCategory: r.def.Category, Owner: of}
	})
	for _, e := range list {
		r.w.write(r.def.Category+"-"+of.String(), e, meta)
	}
	r.w.claim(meta, had, has, func(c commands.Claim) events.Event {
		return events.ClaimReleased{Kind: c.Kind, Owner: of}
	})
}

// claim writes an event for each value that the first list has and the second one has not.
func (w *world) claim(
	meta events.Metadata, list, but []commands.Claim, event func(commands.Claim) events.Event,
) {
	for _, c := range list {
		if !slices.Contains(but, c) {
			k := key(c.Kind, c.Value)
			meta.AggregateID = id.Any(k)
			w.write("claim-"+k.String(), event(c), meta)
		}
	}
}

// write adds one event to the log.
func (w *world) write(stream string, e events.Event, meta events.Metadata) {
	meta.EventID = id.New[id.Event]()
	written := events.Envelope{
		ID: meta.EventID, Stream: stream, Revision: w.revisions[stream], Position: uint64(len(w.log) + 1),
		Type: e.EventType(), Event: e, Meta: meta,
	}
	w.log = append(w.log, written)
	w.revisions[stream]++
	if w.heard != nil {
		w.heard(written)
	}
}

// closePeriod closes the period of a stream, as the bus does with a full one.
func (r *rules[S, C, E]) closePeriod(of id.Any) { r.record(of, []E{r.def.Close(r.states[of])}) }

// follow does what processes do after an event.
func (w *world) follow(e events.Event) {
	switch e := e.(type) {
	case events.PeriodDue:
		draft := w.draft(e.InvoiceID, e.SubscriberID, e.Net(), e.DueAt)
		draft.SubscriptionID = e.SubscriptionID
		w.accounts.do(draft)
	case events.InvoiceDrafted:
		w.grant(commands.InvoiceDocument, "ACME", id.As[id.Any](e.InvoiceID), e.SubscriberID)
	case events.CreditNoteDrafted:
		w.grant(commands.CreditNoteDocument, "ACME-CN", id.As[id.Any](e.CreditNoteID), e.SubscriberID)
	case events.NumberGranted:
		if e.Document == commands.CreditNoteDocument {
			w.accounts.do(commands.IssueCreditNote{
				SubscriberID: e.SubscriberID, CreditNoteID: id.As[id.Receipt](e.DocumentID), Number: e.Number,
			})
			return
		}
		w.accounts.do(commands.IssueInvoice{
			SubscriberID: e.SubscriberID, InvoiceID: id.As[id.Invoice](e.DocumentID), Number: e.Number,
		})
	case events.InvoicePaid:
		if !e.SubscriptionID.IsZero() {
			w.subs.do(commands.ExtendSubscription{
				SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, PaidAt: e.At,
			})
		}
	case events.InvoiceReopened:
		if !e.SubscriptionID.IsZero() {
			w.subs.do(commands.WithdrawPeriod{SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, Reason: "x"})
		}
	case events.InvoiceVoided:
		if !e.SubscriptionID.IsZero() {
			w.subs.do(commands.CancelPeriod{SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID})
		}
	case events.InvoiceCancelled:
		if !e.SubscriptionID.IsZero() {
			w.subs.do(commands.CancelPeriod{SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID})
		}
	case events.PeriodCancelled:
		if e.NeverBegan {
			w.accounts.do(commands.VoidInvoice{
				SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Reason: "x", ReleaseMoney: true,
				NotePrefix: "ACME-CN",
			})
		}
	default:
		w.followMoney(e)
	}
}

// draft is an invoice of one line.
func (w *world) draft(of id.Invoice, who id.Subscriber, price money.Amount, dueAt time.Time) commands.DraftInvoice {
	return commands.DraftInvoice{
		SubscriberID: who, OrgID: w.org, InvoiceID: of,
		Lines:    []commands.LineInput{{Description: "Month or cable", Quantity: "1", UnitPrice: price}},
		Currency: money.KES, Prefix: "ACME", DueOn: calendar.On(dueAt, time.UTC), Tax: events.TaxRule{Inclusive: true},
	}
}

// grant grants the next number of a series.
func (w *world) grant(document, prefix string, of id.Any, who id.Subscriber) {
	w.series.do(w.next(document, prefix, commands.NumberedDocument{DocumentID: of, SubscriberID: who}))
}

// next takes the next number of a series, for one document.
func (w *world) next(document, prefix string, to commands.NumberedDocument) commands.GrantNumbers {
	after := w.after[prefix]
	w.after[prefix]++
	return commands.GrantNumbers{
		SeriesID: commands.SeriesOf(w.org, document, prefix), OrgID: w.org, Document: document, Prefix: prefix,
		After: after, Documents: []commands.NumberedDocument{to},
	}
}

// followMoney does what processes do after an event about a receipt or a prompt.
func (w *world) followMoney(e events.Event) {
	switch e := e.(type) {
	case events.ReceiptMatched:
		w.accounts.do(commands.CreditReceipt{
			SubscriberID: e.SubscriberID, OrgID: e.OrgID, ReceiptID: e.ReceiptID, InvoiceID: e.InvoiceID,
			Number: e.ReceiptNumber, Channel: e.Channel, Amount: e.Amount, PaidAt: e.PaidAt, Move: e.Move,
		})
	case events.ReceiptReversed:
		if !e.SubscriberID.IsZero() {
			w.accounts.do(commands.WithdrawReceipt{SubscriberID: e.SubscriberID, ReceiptID: e.ReceiptID, Reason: "x"})
		}
	case events.ReceiptReattributed:
		w.accounts.do(commands.WithdrawReceipt{SubscriberID: e.From, ReceiptID: e.ReceiptID, Reason: "x"})
		w.accounts.do(commands.CreditReceipt{
			SubscriberID: e.To, OrgID: e.OrgID, ReceiptID: e.ReceiptID, Number: e.ReceiptNumber, Channel: e.Channel,
			Amount: e.Amount, PaidAt: e.PaidAt, Move: e.Move,
		})
	case events.PaymentSucceeded:
		w.receipts.do(commands.MatchReceipt{
			ReceiptID: e.ReceiptID, OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID,
			PaymentID: e.PaymentID, By: commands.MatchedByPrompt,
		})
		w.accounts.do(commands.ReleasePrompt{SubscriberID: e.SubscriberID, PaymentID: e.PaymentID})
	case events.ProvisionalClaimed:
		w.receipts.do(commands.ClaimProvisional{
			ReceiptID: e.ProvisionalReceiptID, ClaimedBy: e.ReceiptID, ReceiptNumber: e.ReceiptNumber,
		})
		w.receipts.do(commands.AbsorbReceipt{
			ReceiptID: e.ReceiptID, OrgID: e.OrgID, SubscriberID: e.SubscriberID, PaymentID: e.PaymentID,
			CarriedBy: e.ProvisionalReceiptID,
		})
	case events.SetAsidePaidOut:
		w.receipts.do(commands.RefundReceipt{
			ReceiptID: e.ReceiptID, RefundID: e.RefundID, SubscriberID: e.SubscriberID, Amount: e.Amount,
		})
	case events.PaymentExpired:
		w.accounts.do(commands.ReleasePrompt{SubscriberID: e.SubscriberID, PaymentID: e.PaymentID})
	}
}

// receive records money at the paybill; the organization is zero while nobody knows whose it is.
func (w *world) receive(units int64, org id.Organization) id.Receipt {
	receipt := id.New[id.Receipt]()
	w.receipts.do(commands.RecordReceipt{
		ReceiptID: receipt, OrgID: org, Provider: commands.ProviderMobileMoney, Environment: "sandbox",
		ReceiptNumber: "R" + receipt.String()[24:], Channel: commands.ChannelPaybill, Shortcode: "600100",
		Amount: kes(units), PaidAt: w.now, Sighting: commands.SightingConfirmation,
	})
	return receipt
}

// pay is money at the paybill that is matched to a subscriber.
func (w *world) pay(subscriber id.Subscriber, units int64) id.Receipt {
	receipt := w.receive(units, w.org)
	w.receipts.do(commands.MatchReceipt{
		ReceiptID: receipt, OrgID: w.org, SubscriberID: subscriber, By: "account_number",
	})
	return receipt
}

// prompt reserves and begins a prompt for Amina.
func (w *world) prompt(units int64) id.Payment {
	payment := id.New[id.Payment]()
	w.accounts.do(commands.ReservePrompt{
		SubscriberID: w.amina, OrgID: w.org, PaymentID: payment, Amount: kes(units),
	})
	w.prompts.do(commands.InitiatePayment{
		PaymentID: payment, OrgID: w.org, SubscriberID: w.amina, Amount: kes(units),
		Phone: personal.Of("254712345678"), Shortcode: "600100", AccountReference: "REF1",
	})
	w.prompts.do(commands.BeginSubmission{PaymentID: payment})
	w.prompts.do(commands.AcceptPrompt{PaymentID: payment, CheckoutRequestID: "co"})
	return payment
}

// settled makes a prompt a success by a receipt of its amount.
func (w *world) settled(payment id.Payment, units int64, provisional bool) id.Receipt {
	receipt := id.New[id.Receipt]()
	record := commands.RecordReceipt{
		ReceiptID: receipt, OrgID: w.org, Provider: commands.ProviderMobileMoney, Environment: "sandbox",
		ReceiptNumber: "P" + receipt.String()[24:], Channel: commands.ChannelPrompt, Shortcode: "600100",
		Amount: kes(units), PaidAt: w.now, PaymentID: payment, Sighting: commands.SightingCallback,
		Provisional: provisional,
	}
	if provisional {
		record.ReceiptNumber, record.Sighting = "", commands.SightingQuery
	}
	w.receipts.do(record)
	w.prompts.do(commands.SettlePayment{
		PaymentID: payment, ReceiptID: receipt, ReceiptNumber: record.ReceiptNumber, Amount: kes(units),
		By: commands.ByCallback, Provisional: provisional,
	})
	return receipt
}

// settledByHand has a person put money of a prompt, over another amount, on the prompt's account.
func (w *world) settledByHand(payment id.Payment, units int64) {
	receipt := id.New[id.Receipt]()
	number := "P" + receipt.String()[24:]
	w.receipts.do(commands.RecordReceipt{
		ReceiptID: receipt, OrgID: w.org, Provider: commands.ProviderMobileMoney, Environment: "sandbox",
		ReceiptNumber: number, Channel: commands.ChannelPrompt, Shortcode: "600100", Amount: kes(units), PaidAt: w.now,
		PaymentID: payment, Sighting: commands.SightingCallback,
	})
	w.receipts.do(commands.HoldReceipt{ReceiptID: receipt, Reason: commands.HeldConflictingPrompt})
	w.receipts.do(commands.AttributeReceipt{ReceiptID: receipt, OrgID: w.org, SubscriberID: w.amina})
	w.prompts.do(commands.SettlePayment{
		PaymentID: payment, ReceiptID: receipt, ReceiptNumber: number, Amount: kes(units), By: commands.ByOperator,
		SubscriberID: w.amina,
	})
}

// bill drafts and issues a manual invoice.
func (w *world) bill(subscriber id.Subscriber, units int64) id.Invoice {
	invoice := id.New[id.Invoice]()
	w.accounts.do(w.draft(invoice, subscriber, kes(units), w.now))
	return invoice
}

// faults checks a log as it is long after, when everything had time to follow.
func (w *world) faults(log []events.Envelope) []bookscases.Fault {
	return w.books(w.org, log).Faults(w.now.Add(72*time.Hour), time.Hour)
}

// partFaults is faults of three parts of the books, one after the other.
func (w *world) partFaults(log []events.Envelope) (all []bookscases.Fault) {
	w.t.Helper()
	for at := range 3 {
		b := books{w.t, bookscases.NewGroup(bookscases.Part{At: at, Of: 3}, key, w.org), w.org}
		all = append(all, b.read(log).Faults(w.now.Add(72*time.Hour), time.Hour)...)
	}
	return all
}

// books are those of one organization, alone in their group.
type books struct {
	t rapid.TB
	*bookscases.Group
	org id.Organization
}

// books enters a log.
func (w *world) books(org id.Organization, log []events.Envelope) books {
	return books{w.t, bookscases.NewGroup(bookscases.Part{}, key, org), org}.read(log)
}

// read enters a log as a doctor does.
func (b books) read(log []events.Envelope) books {
	for _, e := range log {
		b.Take(e)
	}
	if b.Unreserved() {
		for _, e := range log {
			b.LookUp(e)
		}
	}
	return b
}

// report fails the test when the books cannot be folded.
func (b books) report(now time.Time, patience time.Duration) bookscases.Report {
	b.t.Helper()
	report := b.Report(b.org, now, patience)
	if report.Err != nil {
		b.t.Fatal(report.Err)
	}
	return report
}

// Faults are those of the report.
func (b books) Faults(now time.Time, patience time.Duration) []bookscases.Fault {
	b.t.Helper()
	return b.report(now, patience).Faults
}
