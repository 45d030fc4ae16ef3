package bookscases

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// attemptMoney is a receipt that names a prompt attempt. It is kept with the part of the attempt, whichever part the
// receipt is of: a provisional receipt and the real one have different ids.
type attemptMoney struct {
	payment     id.Payment
	provisional bool
	claimedBy   id.Receipt // the real receipt of a provisional one; zero = none has come
	placed      bool       // it is on an account of the organization, as the receipt says
	since       time.Time  // when it came to where it is
}

// takeAttemptMoney follows a receipt that names an attempt of the part. Of a receipt of another part that was matched
// before it named the attempt, it is not known that it is on an account.
func (b *Books) takeAttemptMoney(of id.Receipt, at time.Time, v events.ReceiptEvent) {
	switch v := v.(type) {
	case events.ReceiptRecorded:
		b.nameAttempt(of, v.PaymentID, v.Provisional, at)
	case events.ReceiptSighted:
		b.nameAttempt(of, v.PaymentID, false, at)
	case events.ReceiptDisputed:
		if v.OrgID == b.org { // what another organization's report says is not about this money
			b.nameAttempt(of, v.PaymentID, false, at)
		}
	case events.ReceiptMatched:
		b.nameAttempt(of, v.PaymentID, false, at)
		if m := b.attempts[of]; m != nil && !v.Confirms {
			m.placed, m.since = v.OrgID == b.org, at
		}
	case events.ReceiptReattributed:
		b.nameAttempt(of, v.PaymentID, false, at)
		if m := b.attempts[of]; m != nil {
			m.placed, m.since = v.OrgID == b.org, at
		}
	case events.ReceiptClaimed:
		if m := b.attempts[of]; m != nil {
			m.claimedBy = v.ClaimedBy
		}
	case events.ReceiptHeld, events.ReceiptAbsorbed, events.ReceiptReversed:
		if m := b.attempts[of]; m != nil {
			m.placed, m.since = false, at
		}
	default: // the other events say nothing about this
	}
}

// nameAttempt notes the first attempt that a receipt names.
func (b *Books) nameAttempt(of id.Receipt, payment id.Payment, provisional bool, at time.Time) {
	if payment.IsZero() || b.attempts[of] != nil || !b.part.has(id.As[id.Any](payment)) {
		return
	}
	r := b.receipts[of]
	b.attempts[of] = &attemptMoney{
		payment: payment, provisional: provisional, since: at, placed: r != nil && r.standing == matched,
	}
}

// checkAttempts looks for attempts whose money is on accounts both by a provisional receipt and by a real one. Two real
// receipts are two payments of the provider, and a provisional one that was claimed stands for the one that claimed it.
func (b *Books) checkAttempts(f *findings) {
	placed := map[id.Payment][]id.Receipt{}
	for of, m := range b.attempts {
		if m.placed && f.old(m.since) {
			placed[m.payment] = append(placed[m.payment], of)
		}
	}
	for payment, list := range placed {
		if len(list) < 2 || !slices.ContainsFunc(list, func(of id.Receipt) bool {
			m := b.attempts[of]
			claimer := b.receipts[m.claimedBy] // of this organization, if it has not become another one's
			return m.provisional && (m.claimedBy.IsZero() || slices.Contains(list, m.claimedBy) ||
				claimer != nil && claimer.standing == matched)
		}) {
			continue
		}
		slices.SortFunc(list, func(x, y id.Receipt) int { return cmp.Compare(x.String(), y.String()) })
		on := []About{about("payment", payment)}
		for _, of := range list {
			on = append(on, about("receipt", of))
		}
		f.add(PaymentCreditedTwice, "both the provisional and the real receipt are on an account", on...)
	}
}
