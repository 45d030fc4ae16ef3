package bookscases

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// standing says where a receipt says that its money is.
type standing uint8

// The standings.
const (
	recorded standing = iota
	held              // in suspense
	matched
	absorbed // another receipt carries the money
	reversed
	refunded // back to the payer
)

// String names a standing for a fault.
func (s standing) String() string {
	return [...]string{"recorded", "in suspense", "matched", "absorbed", "reversed", "refunded"}[s]
}

// receipt keeps what happened to one receipt.
type receipt struct {
	org        id.Organization // zero while it has no owner
	number     string
	shortcode  string
	amount     money.Amount
	standing   standing
	subscriber id.Subscriber // whose money it is, while it is matched
	moves      int
	places     []id.Subscriber // to whom it was given, by the number of earlier moves
	payment    id.Payment      // by which it was matched or absorbed; zero = none
	unasked    bool            // it came to an account otherwise than as the amount that its prompt asked for
	since      time.Time       // when it came to where it is
	paidBack   int64           // what refunds took of it that was on accounts, in minor units
	sentBack   int64           // what a refund took of it out of suspense
	paidAt     time.Time       // when the last of these was noted
}

// newReceipt makes a receipt from its first event.
func newReceipt(e events.ReceiptRecorded, at time.Time) *receipt {
	return &receipt{
		org: e.OrgID, number: e.ReceiptNumber, shortcode: e.Shortcode, amount: e.Amount, since: at,
	}
}

// takeReceipt enters an event of a receipt that belongs to the organization now.
func (b *Books) takeReceipt(e events.Envelope, v events.ReceiptEvent) {
	of := id.As[id.Receipt](e.Meta.AggregateID)
	b.takeBurden(of, v)
	b.takeAttemptMoney(of, e.Meta.At, v)
	if !b.part.has(e.Meta.AggregateID) {
		return
	}
	if first, ok := v.(events.ReceiptRecorded); ok {
		b.receipts[of] = newReceipt(first, e.Meta.At)
	}
	r := b.receipts[of]
	if r == nil {
		return
	}
	r.take(e.Meta.At, v)
	if !r.org.IsZero() && r.org != b.org {
		delete(b.receipts, of)
	}
}

// take follows the money of the receipt.
func (r *receipt) take(at time.Time, e events.ReceiptEvent) {
	switch e := e.(type) {
	case events.ReceiptMatched:
		if !e.Confirms {
			r.since = at
		}
		r.org, r.standing, r.payment = e.OrgID, matched, id.Payment{}
		r.give(e.SubscriberID, e.Move)
		r.unasked = r.unasked || e.By != commands.MatchedByPrompt
		if e.By == commands.MatchedByPrompt {
			r.payment = e.PaymentID
		}
	case events.ReceiptReattributed:
		r.org, r.standing, r.since = e.OrgID, matched, at
		r.give(e.To, e.Move)
	case events.ReceiptHeld:
		r.standing, r.subscriber, r.payment, r.since = held, id.Subscriber{}, id.Payment{}, at
	case events.ReceiptAssigned:
		r.org = e.OrgID
	case events.ReceiptAbsorbed:
		r.org, r.standing, r.subscriber, r.since = e.OrgID, absorbed, id.Subscriber{}, at
		r.payment = e.PaymentID
	case events.ReceiptReversed:
		r.standing, r.subscriber, r.since = reversed, id.Subscriber{}, at
	case events.ReceiptRefunded:
		r.paidAt = at
		if !e.SubscriberID.IsZero() {
			r.paidBack += e.Amount.Minor
			if !e.Left.Positive() && r.standing == matched {
				r.standing, r.subscriber, r.since = refunded, e.SubscriberID, at
			}
			break
		}
		if r.sentBack += e.Amount.Minor; r.standing == held {
			r.standing, r.since = refunded, at
		}
	default: // the other events say nothing about this
	}
}

// give notes to whom the receipt was given at a move.
func (r *receipt) give(to id.Subscriber, move int) {
	for len(r.places) <= move {
		r.places = append(r.places, id.Subscriber{})
	}
	r.subscriber, r.moves, r.places[move] = to, move, to
}

// placed reports whether an account has the money by a move at which the receipt was given to it. The account may have
// kept it over later moves, when it did not give it up until the receipt was moved back.
func (r *receipt) placed(h *holding) bool {
	kept := h.move < len(r.places) && r.places[h.move] == h.subscriber && !h.whole
	return h.move == r.moves || kept
}

// holding is the money of a receipt on one account, in minor units.
type holding struct {
	subscriber id.Subscriber
	amount     int64
	left       int64 // what the account still has, less what is for refunds
	gone       int64 // what left the receipt there for good, in parts, or waits there for refunds
	whole      bool  // the rest was taken back, because the receipt itself left
	twice      bool  // credited again while the account still had the money
	move       int
	since      time.Time
	paidBack   int64 // what refunds took of it
}

// takeHolding enters what an account of the organization has of a receipt of the part.
func (b *Books) takeHolding(at time.Time, subscriber id.Subscriber, e events.AccountEvent) {
	switch e := e.(type) {
	case events.ReceiptCredited:
		h := b.holding(e.ReceiptID, subscriber)
		again := !h.since.IsZero() && (h.left > 0 || e.Move <= h.move)
		*h = holding{
			subscriber: subscriber, amount: e.Amount.Minor, left: e.Amount.Minor, move: e.Move, since: at,
			twice: h.twice || again, gone: h.gone, paidBack: h.paidBack,
		}
	case events.ReceiptWithdrawn:
		h := b.holding(e.ReceiptID, subscriber)
		h.left, h.whole, h.since = h.left-e.Amount.Minor, h.whole || e.WithdrawalID.IsZero(), at
		if !e.WithdrawalID.IsZero() {
			h.gone += e.Amount.Minor
		}
	case events.CreditSetAside:
		h := b.holding(e.ReceiptID, subscriber)
		h.left, h.gone, h.since = h.left-e.Amount.Minor, h.gone+e.Amount.Minor, at
	case events.SetAsideReturned:
		h := b.holding(e.ReceiptID, subscriber)
		h.left, h.gone, h.since = h.left+e.Amount.Minor, h.gone-e.Amount.Minor, at
	case events.SetAsidePaidOut:
		h := b.holding(e.ReceiptID, subscriber)
		h.paidBack, h.since = h.paidBack+e.Amount.Minor, at
	default: // the other events say nothing about this
	}
}

// holding finds the money of a receipt on an account, or begins it. What is of another part is not kept.
func (b *Books) holding(of id.Receipt, subscriber id.Subscriber) *holding {
	for _, h := range b.holdings[of] {
		if h.subscriber == subscriber {
			return h
		}
	}
	h := &holding{subscriber: subscriber}
	if b.part.has(id.As[id.Any](of)) {
		b.holdings[of] = append(b.holdings[of], h)
	}
	return h
}

// checkReceipts looks for receipts whose money is in no place or in several, and for money without a receipt.
func (b *Books) checkReceipts(f *findings) {
	for of, list := range b.holdings {
		b.checkHoldings(f, of, list)
	}
	for of, r := range b.receipts {
		if r.org == b.org { // money without an owner is looked at with the platform's books
			b.checkPlace(f, of, b.holdings[of])
		}
	}
	for carrier, list := range b.carried {
		b.checkCarrier(f, carrier, list)
	}
}

// checkSum looks whether all accounts together have, refunded and gave away no more of a receipt than it has.
func (b *Books) checkSum(f *findings, of id.Receipt, list []*holding) {
	on := []About{about("receipt", of)}
	var have, gone int64
	for _, h := range list {
		have, gone = have+max(h.left, 0), gone+h.gone
		on = append(on, about("account", h.subscriber))
	}
	r := b.receipt(of)
	if r == nil {
		return
	}
	if gone += r.sentBack; have+gone > r.amount.Minor {
		f.add(ReceiptExceeded, fmt.Sprintf("accounts have %d, refunds and withdrawn parts are %d, the receipt has %d",
			have, gone, r.amount.Minor), on...)
	}
}

// checkHoldings looks at the accounts that have money of one receipt.
func (b *Books) checkHoldings(f *findings, of id.Receipt, list []*holding) {
	b.checkSum(f, of, list)
	r := b.receipt(of)
	var having []About
	var latest time.Time
	for _, h := range list {
		on := []About{about("receipt", of), about("account", h.subscriber)}
		if h.twice {
			f.add(ReceiptCreditedTwice, "the account credited it again", on...)
		}
		if h.left <= 0 {
			continue
		}
		having = append(having, about("account", h.subscriber))
		if h.since.After(latest) {
			latest = h.since
		}
		switch {
		case r == nil:
			f.add(ReceiptUnknown, fmt.Sprintf("the account has %d", h.left), on...)
		case h.amount != r.amount.Minor:
			f.add(ReceiptAmountDiffers, fmt.Sprintf("credited %d, the receipt has %d", h.amount, r.amount.Minor),
				on...)
		}
		if r != nil && r.subscriber != h.subscriber && f.old(r.since) && f.old(h.since) {
			f.add(ReceiptMisplaced, fmt.Sprintf("the account has %d, the receipt is %s", h.left, r.where()),
				on...)
		}
	}
	if len(having) > 1 && f.old(latest) {
		f.add(ReceiptCreditedTwice, fmt.Sprintf("%d accounts have its money", len(having)),
			append([]About{about("receipt", of)}, having...)...)
	}
}

// where says for a fault where the receipt says that its money is.
func (r *receipt) where() string {
	if r.standing == matched {
		return "matched to " + r.subscriber.String()
	}
	return r.standing.String()
}

// checkPlace looks whether the money of a receipt is where the receipt says.
func (b *Books) checkPlace(f *findings, of id.Receipt, list []*holding) {
	r, on := b.receipts[of], about("receipt", of)
	r.checkRefunds(f, list, on)
	switch r.standing {
	case recorded:
		if f.old(r.since) {
			f.add(ReceiptWaitsForPayer, "since "+r.since.Format(time.RFC3339), on)
		}
	case matched:
		at := slices.IndexFunc(list, func(h *holding) bool { return h.subscriber == r.subscriber })
		switch {
		case !f.old(r.since):
		case at < 0 || !r.placed(list[at]):
			f.add(ReceiptWaitsForCredit, fmt.Sprintf("matched at %s", r.since.Format(time.RFC3339)), on,
				about("account", r.subscriber))
		case list[at].whole && list[at].left <= 0:
			f.add(ReceiptLost, "its money was taken back", on,
				about("account", r.subscriber))
		}
	case held, absorbed, reversed, refunded: // money that is on an account nevertheless is found by checkHoldings
	}
}

// checkRefunds compares what the receipt says was refunded with what accounts paid out of it.
func (r *receipt) checkRefunds(f *findings, list []*holding, on About) {
	var paid int64
	latest := r.paidAt
	for _, h := range list {
		if paid += h.paidBack; h.paidBack > 0 && h.since.After(latest) {
			latest = h.since
		}
	}
	if paid != r.paidBack && f.old(latest) {
		f.add(RefundDiffers, fmt.Sprintf("accounts paid %d out, by the receipt it is %d", paid, r.paidBack), on)
	}
}

// burden is the money of an absorbed receipt, which another receipt should carry.
type burden struct {
	of     id.Receipt
	amount money.Amount
}

// takeBurden notes that a receipt of the part should carry the money of another one.
func (b *Books) takeBurden(of id.Receipt, v events.ReceiptEvent) {
	e, ok := v.(events.ReceiptAbsorbed)
	if ok && e.OrgID == b.org && b.part.has(id.As[id.Any](e.ProvisionalReceiptID)) {
		b.carried[e.ProvisionalReceiptID] = append(b.carried[e.ProvisionalReceiptID], burden{of, e.Amount})
	}
}

// checkCarrier looks whether a receipt that should carry the money of absorbed ones exists, carries money itself, and
// is of the same amount. A receipt that a person or the matching rules put on an account may be over another amount
// than its prompt.
func (b *Books) checkCarrier(f *findings, of id.Receipt, list []burden) {
	carrier := b.receipt(of)
	for _, absorbs := range list {
		on := []About{about("receipt", absorbs.of), about("receipt", of)}
		switch {
		case carrier == nil:
			f.add(CarrierMissing, "there is no such receipt", on...)
		case carrier.standing == absorbed:
			f.add(CarrierMissing, "the other receipt carries no money either", on...)
		case carrier.amount != absorbs.amount && !carrier.unasked:
			f.add(CarrierMissing, fmt.Sprintf("amounts %d and %d", absorbs.amount.Minor, carrier.amount.Minor), on...)
		}
	}
}

// sortedUnowned puts the oldest money first.
func sortedUnowned(list []Unowned) []Unowned {
	slices.SortFunc(list, func(a, b Unowned) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ReceiptID.String(), b.ReceiptID.String()))
	})
	return list
}
