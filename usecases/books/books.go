// Package bookscases replays the log of one organization and looks for contradictions in it: between lines and
// balances, receipts and accounts, prompts and receipts, invoices and periods, numbers and documents, unique values and
// their owners. It computes what it can a second time, by other ways than the rules that wrote the log, and never
// asks a read model. Source: docs/books.md.
package bookscases

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Books are the facts of one organization, folded from the log. The zero organization is the platform itself: money
// without an owner, and unique values that belong to no organization. Take gives it the events in the order of the log.
// It is not safe for concurrent use.
type Books struct {
	org           id.Organization
	part          Part
	ours          map[id.Subscriber]bool     // every account of the organization
	accounts      map[id.Subscriber]*account // of the part, like all that follow, by its own id
	receipts      map[id.Receipt]*receipt    // also those that belong to nobody yet
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
}

// New makes the books of an organization, or of a part of it, without any event. key gives the key of a unique value,
// as the bus does.
func New(org id.Organization, part Part, key func(kind, value string) uuid.UUID) *Books {
	return &Books{
		org: org, part: part, ours: map[id.Subscriber]bool{}, accounts: map[id.Subscriber]*account{},
		receipts: map[id.Receipt]*receipt{}, holdings: map[id.Receipt][]*holding{},
		carried: map[id.Receipt][]burden{}, known: map[id.Receipt][]knowledge{}, prompts: map[id.Payment]*prompt{},
		attempts: map[id.Receipt]*attemptMoney{}, reserved: map[id.Payment]reservation{},
		subscriptions: map[id.Subscription]*subscription{},
		series:        map[id.Series]*series{}, grants: map[string]grant{}, documents: map[string][]document{},
		claims: newClaims(org, part, key),
	}
}

// Wants reports whether the books are made from events of this kind.
func Wants(e events.Event) bool {
	switch e.(type) {
	case events.AccountEvent, events.ReceiptEvent, events.PaymentEvent, events.SubscriptionEvent,
		events.NumberingEvent, events.ClaimEvent:
		return true
	}
	return ownsClaims(e)
}

// Take enters the next event of the log. Events of other organizations and of other kinds change nothing.
func (b *Books) Take(e events.Envelope) {
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
	}
	b.claims.take(e)
}

// Faults checks the books as they are at an instant. What changed less than patience ago is not judged where another
// part of the program has yet to follow; zero judges everything, as when the program is known to rest.
func (b *Books) Faults(now time.Time, patience time.Duration) []Fault {
	found := &findings{before: now.Add(-patience)}
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

// Unowned lists the money that belongs to no organization yet, the oldest first. It is no fault: a super_admin assigns
// it.
func (b *Books) Unowned() []Unowned {
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
