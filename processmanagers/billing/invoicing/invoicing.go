// Package invoicing drafts an invoice for each due period, for what a change of plan costs, and for charges that are
// left at an end, and issues every document that got its number.
//
// Process "invoicing", one instance for each invoice of a period, so that what fails for one account stops no other:
//
//	            ┌──────── refused: again after a growing wait ────────┐
//	            ▼                                                     │
//	PeriodDue ─► DraftPeriodInvoice ─► drafted                        │
//	                  ├───────────────────────────────────────────────┘
//	                  └─ refused, because the customer is removed ─► over
//
// A billing run drafts the invoices of its periods and issues them by itself; the processes wait for it, and do what it
// has left undone.
//
// The settings of the organization are read when the command is executed (billingcases.PeriodInvoices), because a
// process is pure and an instance cannot see another's state. Numbers are granted in blocks by billingjobs.Numberer.
//
// Process "document_issue", one instance for each document (invoice or credit note), ends when the document is final:
//
//	              ┌── a minute without progress: the step's command again ──┐
//	              ▼                                                         │
//	granted ─► IssueInvoice / IssueCreditNote ─► issued                     │
//	              │                                                         │
//	              └─ refused ─► VoidInvoice with the number ─► voided ──────┘
//
// A number that was granted always ends in a document, so the series has no gaps
// (docs/rules/billing.md#numbers-without-gaps).
package invoicing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Name is that of the process.
const Name = "invoicing"

// again is the timer of the next try after a refusal. Tries are firstPause apart at first, and a day at most: an
// operator may mend the cause, and no period is left without its invoice in silence.
const (
	again      = "again"
	firstPause = time.Minute
	lastPause  = 24 * time.Hour
)

// ForRun is how long a billing run has to draft an invoice, and to issue one that got its number, before the processes
// do it: a run that was killed leaves nothing undone, and a payment waits for its invoice no longer than that.
const ForRun = 30 * time.Second

// Period is the state of an "invoicing" instance: what is to be drafted. Older programs kept one instance for each
// organization under the same name; these are never looked at again.
type Period struct {
	Draft commands.DraftPeriodInvoice `json:"draft,omitzero"`
	Pause time.Duration               `json:"pause,omitempty"`   // before the next try; 0 before the first refusal
	Over  bool                        `json:"drafted,omitempty"` // drafted, or nobody is left to pay it
}

// Process drafts an invoice for each due period, under the settings that hold when it is drafted.
func Process() processmanagers.Process[Period] {
	return processmanagers.Process[Period]{
		Name: Name,
		On: []processmanagers.Handled{
			processmanagers.Brief(func(e events.PeriodDue) string { return e.InvoiceID.String() },
				func(e events.PeriodDue) bool { return !e.RunID.IsZero() }),
			processmanagers.On(changedPlan),
			processmanagers.On(func(e events.ChargesDue) string { return e.InvoiceID.String() }),
			processmanagers.On(draftedPeriod),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s Period) bool { return s.Over },
	}
}

// changedPlan is the instance of the invoice over a change of plan; one that costs nothing has none.
func changedPlan(e events.SubscriptionPlanChanged) string {
	if e.InvoiceID.IsZero() {
		return ""
	}
	return e.InvoiceID.String()
}

// draftedPeriod is the instance of a drafted invoice; a manual invoice has none.
func draftedPeriod(e events.InvoiceDrafted) string {
	if e.SubscriptionID.IsZero() && e.SoldTo.IsZero() {
		return ""
	}
	return e.InvoiceID.String()
}

// evolve remembers what is to be drafted, and doubles the pause with each refusal. The account of a customer who is
// removed is closed for ever.
func evolve(s Period, in processmanagers.Input) Period {
	if in.Refusal != nil {
		s.Over = s.Over || in.Refusal.Code == "account_closed"
		s.Pause = min(max(2*s.Pause, firstPause), lastPause)
		return s
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.PeriodDue:
		s.Draft = commands.DraftOf(e)
	case events.SubscriptionPlanChanged:
		s.Draft = commands.DraftOfChange(e)
	case events.ChargesDue:
		s.Draft = commands.DraftOfCharges(e)
	case events.InvoiceDrafted:
		s.Over = true
	}
	return s
}

// decide drafts the invoice when its period becomes due, and after each pause.
func decide(s Period, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	after := evolve(s, in)
	switch {
	case after.Over || after.Draft.InvoiceID.IsZero():
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: again}}}, nil
	case in.Event != nil && !after.Draft.RunID.IsZero():
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: again, At: now.Add(ForRun)}}}, nil
	case in.Refusal != nil:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: again, At: now.Add(after.Pause)}}}, nil
	}
	draft := after.Draft
	draft.RunID = id.BillingRun{} // its number comes from the batcher, at once
	return processmanagers.Output{Commands: []commands.Command{draft}}, nil
}
