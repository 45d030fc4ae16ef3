// Package bookscases replays the log of one organization and looks for contradictions in it: between lines and
// balances, receipts and accounts, prompts and receipts, invoices and periods, numbers and documents, unique values and
// their owners. It computes what it can a second time, by other ways than the rules that wrote the log, and never
// asks a read model. Source: docs/books.md.
package bookscases

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Books are the facts of one organization, folded from the log. The zero organization is the platform itself: money
// without an owner, and unique values that belong to no organization. A Group gives it the events of the organization
// in the order of the log. It is not safe for concurrent use.
type Books struct {
	org           id.Organization
	part          Part
	ours          map[id.Subscriber]bool     // every account of the organization
	accounts      map[id.Subscriber]*account // of the part, like all that follow, by its own id
	receipts      map[id.Receipt]*receipt    // for the platform those that belong to nobody
	nobodys       map[id.Receipt]*receipt    // shared with the other books of the group
	holdings      map[id.Receipt][]*holding  // what accounts have of receipts
	carried       map[id.Receipt][]burden    // what receipts should carry for absorbed ones, by the carrier
	known         map[id.Receipt][]knowledge // which prompts know a receipt
	prompts       map[id.Payment]*prompt
	attempts      map[id.Receipt]*attemptMoney
	reserved      map[id.Payment]reservation
	subscriptions map[id.Subscription]*subscription
	series        map[id.Series]*series
	grants        map[string]grant
	documents     map[string][]document
	claims        claims
	runs          heldRuns
	unreadable    []unreadable // closed streams of the organization whose last state cannot be read

	foldAccount      folding[billing.Account, commands.AccountCommand, events.AccountEvent]
	foldSubscription folding[subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent]
}

// newBooks makes the books of an organization, or of a part of it, without any event. key gives the key of a unique
// value, as the bus does.
func newBooks(org id.Organization, part Part, key func(kind, value string) uuid.UUID, with *shared) *Books {
	b := &Books{
		org: org, part: part, ours: map[id.Subscriber]bool{}, accounts: map[id.Subscriber]*account{},
		receipts: map[id.Receipt]*receipt{}, nobodys: with.nobodys, holdings: map[id.Receipt][]*holding{},
		carried: map[id.Receipt][]burden{}, known: map[id.Receipt][]knowledge{}, prompts: map[id.Payment]*prompt{},
		attempts: map[id.Receipt]*attemptMoney{}, reserved: map[id.Payment]reservation{},
		subscriptions: map[id.Subscription]*subscription{},
		series:        map[id.Series]*series{}, grants: map[string]grant{}, documents: map[string][]document{},
		claims: newClaims(org, part, key, with), runs: heldRuns{held: map[id.BillingRun]bool{}},
		foldAccount: foldingOf(billing.Accounts()), foldSubscription: foldingOf(subscribers.Subscriptions()),
	}
	if org.IsZero() {
		b.receipts = with.nobodys
	}
	return b
}

// Wants reports whether the books are made from events of this kind.
func Wants(e events.Event) bool {
	switch e.(type) {
	case events.AccountEvent, events.ReceiptEvent, events.PaymentEvent, events.SubscriptionEvent,
		events.NumberingEvent, events.ClaimEvent, events.UserEvent, events.BillingRunEvent:
		return true
	}
	return ownsClaims(e)
}

// take enters the next event of the organization.
func (b *Books) take(e events.Envelope) {
	switch v := e.Event.(type) {
	case events.AccountEvent:
		b.takeAccount(e, v)
	case events.ReceiptEvent:
		b.takeReceipt(e, v)
	case events.PaymentEvent:
		b.takePrompt(e, v)
	case events.SubscriptionEvent:
		b.takeSubscription(e, v)
	case events.NumberingEvent:
		b.takeNumber(v)
	case events.BillingRunEvent:
		b.runs.take(e.Meta.At, v)
	}
	if err := b.claims.take(e); err != nil {
		b.cannotRead(e, err)
	}
}

// receipt finds a receipt of the organization, or one that belongs to nobody; nil when there is none.
func (b *Books) receipt(of id.Receipt) *receipt {
	if r := b.receipts[of]; r != nil {
		return r
	}
	return b.nobodys[of]
}

// unreadable is a closed stream whose last state cannot be read.
type unreadable struct {
	of    About
	cause string
}

// cannotRead notes that an event closed a stream with a state that cannot be read.
func (b *Books) cannotRead(e events.Envelope, cause error) {
	b.unreadable = append(b.unreadable, unreadable{About{e.Category(), e.Meta.AggregateID}, cause.Error()})
}

// faults checks the books as they are at an instant (see Group.Report).
func (b *Books) faults(now time.Time, patience time.Duration) []Fault {
	found := &findings{before: now.Add(-patience)}
	for _, u := range b.unreadable {
		found.add(StreamUnreadable, u.cause, u.of)
	}
	for subscriber, a := range b.accounts {
		a.check(found, subscriber)
	}
	b.checkReceipts(found)
	b.checkPrompts(found)
	b.checkAttempts(found)
	b.checkSubscriptions(found)
	b.checkNumbers(found)
	b.claims.check(found)
	return found.sorted()
}

// Unowned is money on the platform's shortcode that belongs to no organization yet.
type Unowned struct {
	ReceiptID id.Receipt
	Number    string // the provider's receipt number; "" for a provisional receipt
	Shortcode string
	Amount    money.Amount
	Since     time.Time // when it came to where it is
	Waits     bool      // its payer is still being searched for; false = it is in suspense
}

// unowned lists the money that belongs to no organization yet, the oldest first; for an organization there is none. It
// is no fault: a super_admin assigns it.
func (b *Books) unowned() []Unowned {
	if !b.org.IsZero() {
		return nil
	}
	var list []Unowned
	for receipt, r := range b.receipts {
		if r.org.IsZero() && (r.standing == recorded || r.standing == held) {
			list = append(list, Unowned{
				ReceiptID: receipt, Number: r.number, Shortcode: r.shortcode, Amount: r.amount, Since: r.since,
				Waits: r.standing == recorded,
			})
		}
	}
	return sortedUnowned(list)
}
