package renewal

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Refused is a command that was refused although it is still wanted. Fields that a kind does not need are zero.
type Refused struct {
	Kind           string          `json:"kind"` // name of the command
	SubscriptionID id.Subscription `json:"subscriptionId,omitzero"`
	SubscriberID   id.Subscriber   `json:"subscriberId,omitzero"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	CorrectedID    id.Invoice      `json:"correctedId,omitzero"` // that of ReissuePeriod
	PaidAt         time.Time       `json:"paidAt,omitzero"`
	// Late is that of ExtendSubscription.
	Late events.LateRenewal `json:"late,omitempty"`
	Part events.PartPeriod  `json:"part,omitzero"` // that of ExtendSubscription
	// Note, Reason and what is credited are those of CreditDays; its invoice is the one above. VoidInvoice has a
	// reason, too, unless it was kept before there was another one than the end.
	Note   id.Receipt `json:"note,omitzero"`
	Reason string     `json:"reason,omitempty"`
	events.DaysCredit
}

// againTimer is the timer after which refused commands are asked again; one instance has one.
const againTimer = "again"

// Waits before a refused command is asked again. A missing invoice is usually drafted within a moment; any other reason
// needs a person or a later event.
const (
	soon  = time.Minute
	later = time.Hour
)

// refusedCommand describes a refused command. It is false when the command became pointless: nobody waits for a period
// of a subscription that does not exist, and the next period is asked for anew by its timer and by credit.
func refusedCommand(r processmanagers.Refusal) (Refused, bool) {
	if r.Code == "subscription_not_found" {
		return Refused{}, false
	}
	switch c := r.Asked.(type) {
	case commands.ExtendSubscription:
		return Refused{
			Kind: c.CommandName(), SubscriptionID: c.SubscriptionID, InvoiceID: c.InvoiceID, PaidAt: c.PaidAt,
			Late: c.Late, Part: c.Part,
		}, true
	case commands.WithdrawPeriod:
		return Refused{
			Kind: c.CommandName(), SubscriptionID: c.SubscriptionID, InvoiceID: c.InvoiceID,
		}, true
	case commands.CancelPeriod:
		return Refused{Kind: c.CommandName(), SubscriptionID: c.SubscriptionID, InvoiceID: c.InvoiceID}, true
	case commands.ReissuePeriod:
		return Refused{
			Kind: c.CommandName(), SubscriptionID: c.SubscriptionID, InvoiceID: c.InvoiceID,
			CorrectedID: c.CorrectedID,
		}, true
	case commands.VoidInvoice:
		return Refused{
			Kind: c.CommandName(), SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID, Reason: c.Reason,
		}, true
	case commands.ExpireSubscription:
		return Refused{Kind: c.CommandName(), SubscriptionID: c.SubscriptionID}, true
	case commands.CreditDays:
		r := Refused{
			Kind: c.CommandName(), SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID, Note: c.CreditNoteID,
			Reason: c.Reason, DaysCredit: c.DaysCredit,
		}
		r.DaysCredit.InvoiceID = id.Invoice{}
		return r, true
	}
	return Refused{}, false
}

// command is the described command; nil for a kind that this program does not know.
func (r Refused) command() commands.Command {
	switch r.Kind {
	case commands.ExtendSubscription{}.CommandName():
		return commands.ExtendSubscription{
			SubscriptionID: r.SubscriptionID, InvoiceID: r.InvoiceID, PaidAt: r.PaidAt,
			Late: r.Late, Part: r.Part,
		}
	case commands.WithdrawPeriod{}.CommandName():
		return commands.WithdrawPeriod{
			SubscriptionID: r.SubscriptionID, InvoiceID: r.InvoiceID, Reason: withdrawnReason,
		}
	case commands.CancelPeriod{}.CommandName():
		return commands.CancelPeriod{SubscriptionID: r.SubscriptionID, InvoiceID: r.InvoiceID}
	case commands.ReissuePeriod{}.CommandName():
		return commands.ReissuePeriod{
			SubscriptionID: r.SubscriptionID, InvoiceID: r.InvoiceID, CorrectedID: r.CorrectedID,
		}
	case commands.VoidInvoice{}.CommandName():
		return commands.VoidInvoice{
			SubscriberID: r.SubscriberID, InvoiceID: r.InvoiceID, Reason: cmp.Or(r.Reason, endedReason),
			ReleaseMoney: true,
		}
	case commands.ExpireSubscription{}.CommandName():
		return commands.ExpireSubscription{SubscriptionID: r.SubscriptionID}
	case commands.CreditDays{}.CommandName():
		credit := r.DaysCredit
		credit.InvoiceID = r.InvoiceID
		return commands.CreditDays{
			SubscriberID: r.SubscriberID, CreditNoteID: r.Note, DaysCredit: credit, Reason: r.Reason,
		}
	}
	return nil
}

// refused sets the timer after which a command is asked again.
func (s State) refused(r processmanagers.Refusal, now time.Time) processmanagers.Output {
	if _, wanted := refusedCommand(r); !wanted {
		return processmanagers.Output{}
	}
	at := now.Add(later)
	if r.Code == "invoice_not_found" || r.Code == "invoice_not_issued" {
		at = now.Add(soon)
	}
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: againTimer, At: at}}}
}

// again asks for all refused commands. Those that are refused again come back as refusals.
func (s State) again() processmanagers.Output {
	var out processmanagers.Output
	for _, r := range s.Refused {
		if c := r.command(); c != nil {
			out.Commands = append(out.Commands, c)
		}
	}
	return out
}

// repeating returns the state with a refused command remembered, and after the timer without any.
func (s State) repeating(in processmanagers.Input) State {
	if in.Timeout != nil && in.Timeout.Name == againTimer {
		s.Refused = nil
		return s
	}
	if in.Refusal == nil {
		return s
	}
	r, wanted := refusedCommand(*in.Refusal)
	known := slices.ContainsFunc(s.Refused, func(k Refused) bool {
		return k.Kind == r.Kind && k.InvoiceID == r.InvoiceID && k.Note == r.Note &&
			k.SubscriptionID == r.SubscriptionID
	})
	if wanted && !known {
		s.Refused = append(slices.Clone(s.Refused), r)
	}
	return s
}

// overtaken returns the state without the refused commands that a later event about their invoice replaces: asked again
// they would undo what follows from the event. A wish to void an invoice, or to credit days of it, ends only when
// nothing is owed on it for good, nor on one in its place.
func (s State) overtaken(invoice id.Invoice, final bool) State {
	var left []Refused
	for _, r := range s.Refused {
		lasts := r.Kind == (commands.VoidInvoice{}).CommandName() || r.Kind == (commands.CreditDays{}).CommandName()
		if r.InvoiceID != invoice || lasts && !final {
			left = append(left, r)
		}
	}
	s.Refused = left
	return s
}

// drafted voids at once an invoice that could not be voided before, because it was not drafted yet.
func (s State) drafted(invoice id.Invoice) processmanagers.Output {
	for _, r := range s.Refused {
		if r.InvoiceID == invoice && r.Kind == (commands.VoidInvoice{}).CommandName() {
			return command(r.command())
		}
	}
	return processmanagers.Output{}
}
