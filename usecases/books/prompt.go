package bookscases

import (
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// prompt keeps what happened to one prompt attempt of the organization.
type prompt struct {
	amount  int64 // minor units
	expires time.Time
	over    bool      // it has a verdict
	since   time.Time // of the verdict, or of the beginning
}

// knowledge says that a prompt knows a receipt.
type knowledge struct {
	payment id.Payment
	amount  int64 // of the prompt, in minor units; -1 = the event does not tell
	since   time.Time
}

// reservation is the amount that an account keeps for a prompt.
type reservation struct {
	subscriber id.Subscriber
	since      time.Time
}

// takePrompt enters an event of a prompt of the organization.
func (b *Books) takePrompt(e events.Envelope, v events.PaymentEvent) {
	of := id.As[id.Payment](e.Meta.AggregateID)
	b.takeKnowledge(of, e.Meta.At, v)
	if first, ok := v.(events.PaymentInitiated); ok && first.OrgID == b.org && b.part.has(e.Meta.AggregateID) {
		b.prompts[of] = &prompt{amount: first.Amount.Minor, expires: first.ExpiresAt, since: e.Meta.At}
	}
	p := b.prompts[of]
	if p == nil {
		return
	}
	switch v := v.(type) {
	case events.PaymentSucceeded:
		p.over, p.since = true, e.Meta.At
		if v.Amount.Minor != p.amount && v.By != commands.ByOperator {
			p.amount = -1 // told with the receipt
		}
	case events.PaymentCancelled, events.PaymentFailed, events.PaymentExpired:
		p.over, p.since = true, e.Meta.At
	default: // the other events say nothing about this
	}
}

// takeKnowledge notes that a prompt of the organization knows a receipt of the part.
func (b *Books) takeKnowledge(of id.Payment, at time.Time, v events.PaymentEvent) {
	note := func(org id.Organization, receipt id.Receipt, amount int64) {
		if org == b.org && !b.org.IsZero() && b.part.has(id.As[id.Any](receipt)) {
			b.known[receipt] = append(b.known[receipt], knowledge{of, amount, at})
		}
	}
	switch v := v.(type) {
	case events.PaymentSucceeded:
		note(v.OrgID, v.ReceiptID, v.Amount.Minor)
	case events.ProvisionalClaimed:
		note(v.OrgID, v.ReceiptID, -1)
	case events.ProvisionalSuperseded:
		note(v.OrgID, v.ProvisionalReceiptID, -1)
	default: // the other events say nothing about this
	}
}

// takeReservation notes what an account of the organization keeps for a prompt of the part.
func (b *Books) takeReservation(at time.Time, subscriber id.Subscriber, v events.AccountEvent) {
	switch v := v.(type) {
	case events.PromptReserved:
		if b.part.has(id.As[id.Any](v.PaymentID)) {
			b.reserved[v.PaymentID] = reservation{subscriber, at}
		}
	case events.PromptReleased:
		delete(b.reserved, v.PaymentID)
	default: // the other events say nothing about this
	}
}

// checkPrompts compares prompts with their receipts, and with what accounts reserve for them.
func (b *Books) checkPrompts(f *findings) {
	for of, p := range b.prompts {
		on := about("payment", of)
		if !p.over && f.old(p.expires) {
			f.add(PromptWithoutVerdict, "should have ended at "+p.expires.Format(time.RFC3339), on)
		}
		if p.amount < 0 {
			f.add(PromptAmountDiffers, "it succeeded over another amount than was asked for", on)
		}
	}
	for receipt, list := range b.known {
		b.checkKnowledge(f, receipt, list)
	}
	for of, r := range b.receipts {
		knows := func(k knowledge) bool { return k.payment == r.payment }
		if !r.payment.IsZero() && f.old(r.since) && !slices.ContainsFunc(b.known[of], knows) {
			f.add(ReceiptUnknownToPrompt, "it is "+r.where(), about("receipt", of), about("payment", r.payment))
		}
	}
	for payment, kept := range b.reserved {
		p := b.prompts[payment]
		if f.old(kept.since) && (p == nil || p.over && f.old(p.since)) {
			f.add(ReservationStale, "reserved since "+kept.since.Format(time.RFC3339),
				about("account", kept.subscriber), about("payment", payment))
		}
	}
}

// checkKnowledge looks at the receipt by which prompts succeeded.
func (b *Books) checkKnowledge(f *findings, receipt id.Receipt, list []knowledge) {
	r := b.receipt(receipt)
	for _, k := range list {
		on := []About{about("payment", k.payment), about("receipt", receipt)}
		switch {
		case r == nil && f.old(k.since):
			f.add(PromptWithoutReceipt, "the receipt is missing", on...)
		case r != nil && k.amount >= 0 && r.amount.Minor != k.amount:
			f.add(PromptAmountDiffers, fmt.Sprintf("prompt %d, receipt %d", k.amount, r.amount.Minor), on...)
		}
	}
}
