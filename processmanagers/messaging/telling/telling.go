// Package telling says which events customers are told of:
//
//	reminder, step of dunning, use of a cap ──► SendMessage ──► queued, sent, failed or dropped
//	issued or signed invoice, money         ──► SendMessage
//	answer to a support request             ──► SendMessage
//	end of a billing run                    ──► TellRun ──► SendMessage for each of its invoices
//	release of held messages                ──► WakeMessages
//	subscriber forgotten                    ──► ForgetMessages
//
// It remembers nothing: that nobody is told twice of one cause on one day follows from the id of the message.
package telling

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How long after an event its message is still of use. Messages wait for the hours in which they go, and for a program
// that was off.
const (
	noticeKept   = 72 * time.Hour
	reminderKept = 24 * time.Hour
)

// issuedAfter is how long an invoice waits before its customer is told of it: most of those that are made when a
// customer pays are paid by then, and a billing run is over.
const issuedAfter = 15 * time.Minute

// paidLately is how old money may be whose customer is told that it has come. Older money is found by a reconciliation.
const paidLately = 72 * time.Hour

// releaseSeen is when every program has seen that held messages were released (usecases.Fuse).
const releaseSeen = 5 * time.Second

// State is empty.
type State struct{}

// Process has an instance for each subscription, which ends at once.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "messages",
		On: []processmanagers.Handled{
			processmanagers.Follow(func(e events.DunningReminded) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.DunningBegan) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.WalledGardenEntered) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.ServiceSuspended) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.WriteOffProposed) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.DunningEnded) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.CapWarned) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.CapReached) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(signedInvoice),
			processmanagers.Follow(issuedAlone),
			processmanagers.Follow(func(e events.BillingRunFinished) string { return e.RunID.String() }),
			processmanagers.Follow(func(e events.ReceiptCredited) string { return e.ReceiptID.String() }),
			processmanagers.Follow(toldAnswer),
			processmanagers.Follow(func(e events.FuseReleased) string { return e.FuseID.String() }),
			processmanagers.Follow(func(e events.SubscriberForgotten) string { return e.SubscriberID.String() }),
		},
		Decide: decide,
		Evolve: func(s State, _ processmanagers.Input) State { return s },
		Ended:  func(State) bool { return true },
	}
}

// signedInvoice is the instance of an invoice of which its customer is told.
func signedInvoice(e events.DocumentSigned) string {
	if !e.Messages {
		return ""
	}
	return e.InvoiceID.String()
}

// issuedAlone is the instance of an issued invoice. Those of a billing run are told of when it is over: a job for each
// would delay the run.
func issuedAlone(e events.InvoiceIssued) string {
	if !e.RunID.IsZero() {
		return ""
	}
	return e.InvoiceID.String()
}

// toldAnswer is the instance of an answer to a support request of which its customer is told.
func toldAnswer(e events.SupportRequestAnswered) string {
	if !e.Tell {
		return ""
	}
	return e.RequestID.String()
}

// decide asks for the message of an event, if it has one.
func decide(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.SubscriberForgotten:
		return processmanagers.Output{Jobs: []commands.Job{
			commands.ForgetMessages{OrgID: in.Event.Meta.OrgID, SubscriberID: e.SubscriberID},
		}}, nil
	case events.FuseReleased:
		if e.Kind != events.FuseMessages {
			return processmanagers.Output{}, nil
		}
		return processmanagers.Output{Jobs: []commands.Job{
			commands.WakeMessages{OrgID: e.OrgID, NotBefore: e.At.Add(releaseSeen)},
		}}, nil
	case events.BillingRunFinished:
		return processmanagers.Output{Jobs: []commands.Job{commands.TellRun{
			OrgID: e.OrgID, RunID: e.RunID, At: e.At, NotBefore: e.At.Add(issuedAfter), Until: e.At.Add(noticeKept),
			Position: in.Event.Position,
		}}}, nil
	}
	job, ok := about(in.Event.Event)
	if !ok {
		return processmanagers.Output{}, nil
	}
	job.Position = in.Event.Position
	return processmanagers.Output{Jobs: []commands.Job{job}}, nil
}

// about is the message that an event leads to; false when customers are not told of it.
func about(e events.Event) (commands.SendMessage, bool) {
	switch e := e.(type) {
	case events.DunningReminded:
		job := message(e.DunningSubject, reminderOf(e.Day), e.At, reminderKept)
		job.DueAt = e.DueAt
		if !e.Until.IsZero() {
			job.Until = e.Until
		}
		return job, true
	case events.DunningBegan:
		if e.Before.Cut() {
			return message(e.DunningSubject, events.NoticeRestored, e.At, reminderKept), true
		}
		job := message(e.DunningSubject, events.ReminderOverdue, e.At, reminderKept)
		job.DueAt = e.DueAt
		return job, e.Reason == string(course.ReasonDue) // otherwise a reminder was the beginning
	case events.WalledGardenEntered:
		return message(e.DunningSubject, events.NoticeGarden, e.At, noticeKept), true
	case events.ServiceSuspended:
		return message(e.DunningSubject, events.NoticeSuspended, e.At, noticeKept), !e.Before.Off()
	case events.WriteOffProposed:
		return message(e.DunningSubject, events.NoticeSuspended, e.At, noticeKept), !e.Before.Off()
	case events.DunningEnded:
		return message(e.DunningSubject, events.NoticeRestored, e.At, reminderKept), e.Before.Cut()
	case events.CapWarned:
		return aboutCap(e.UsageSubject, events.NoticeCapWarned, e.CapPeriod, e.CapCount, e.At), !e.OfVoucher()
	case events.CapReached:
		t := events.NoticeCapThrottled
		if e.Then == events.CapStop {
			t = events.NoticeCapStopped
		}
		return aboutCap(e.UsageSubject, t, e.CapPeriod, e.CapCount, e.At), !e.OfVoucher()
	case events.SupportRequestAnswered:
		return commands.SendMessage{
			OrgID: e.OrgID, SubscriberID: e.SubscriberID, RequestID: e.RequestID, Number: e.Number,
			Template: events.NoticeSupport, At: e.At, Until: e.At.Add(noticeKept),
		}, e.Tell
	}
	return aboutDocument(e)
}

// aboutDocument is the message that an invoice or a receipt leads to.
func aboutDocument(e events.Event) (commands.SendMessage, bool) {
	switch e := e.(type) {
	case events.DocumentSigned:
		return commands.SendMessage{
			OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Template: events.NoticeInvoice,
			At: e.At, Until: e.At.Add(noticeKept),
		}, true
	case events.InvoiceIssued:
		return commands.SendMessage{
			OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Template: events.NoticeIssued,
			At: e.IssuedAt, NotBefore: e.IssuedAt.Add(issuedAfter), Until: e.IssuedAt.Add(noticeKept),
		}, true
	case events.ReceiptCredited:
		return commands.SendMessage{
			OrgID: e.OrgID, SubscriberID: e.SubscriberID, ReceiptID: e.ReceiptID, Move: e.Move,
			Template: events.NoticeReceipt, At: e.At, Until: e.At.Add(noticeKept),
		}, e.At.Sub(e.PaidAt) < paidLately
	}
	return commands.SendMessage{}, false
}

// aboutCap is the job for a message about a cap. It is of no use any more when the cap resets.
func aboutCap(
	s events.UsageSubject, t events.MessageTemplate, p events.CapPeriod, c events.CapCount, at time.Time,
) commands.SendMessage {
	job := message(events.DunningSubject(s), t, at, noticeKept)
	job.CapPeriod, job.CapCount = p, c
	if p.ResetsAt.Before(job.Until) {
		job.Until = p.ResetsAt
	}
	return job
}

// reminderOf is the template of a reminder on a day relative to the due date.
func reminderOf(day int) events.MessageTemplate {
	switch {
	case day < 0:
		return events.ReminderBefore
	case day == 0:
		return events.ReminderDue
	}
	return events.ReminderOverdue
}

// message is the job for a message that is of use for a while.
func message(
	s events.DunningSubject, t events.MessageTemplate, at time.Time, kept time.Duration,
) commands.SendMessage {
	return commands.SendMessage{
		OrgID: s.OrgID, SubscriberID: s.SubscriberID, SubscriptionID: s.SubscriptionID, Template: t, At: at,
		Until: at.Add(kept),
	}
}
