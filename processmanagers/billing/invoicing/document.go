package invoicing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// A step that makes no progress within patience is repeated when the timer stalled comes due. The bus lets each command
// act once, so repeating is harmless.
const (
	stalled  = "stalled"
	patience = time.Minute
)

// refusedReason is the reason on the document that is voided because its issue was refused.
const refusedReason = "the issue was refused"

// Document is the state of a "document_issue" instance: one invoice or credit note on its way from its number to its
// issue. States of older programs have more fields, and may have no number yet.
type Document struct {
	Kind         string        `json:"kind,omitempty"` // commands.InvoiceDocument or commands.CreditNoteDocument
	DocumentID   id.Any        `json:"documentId"`
	SubscriberID id.Subscriber `json:"subscriberId"`
	Number       string        `json:"number,omitempty"` // "" before it is granted
	ByRun        bool          `json:"byRun,omitempty"`  // a billing run issues it
	Refused      bool          `json:"refused,omitempty"`
	Final        bool          `json:"final,omitempty"`
}

// DocumentProcess takes each document that has a number to its issue, or to a voided document with the number.
func DocumentProcess() processmanagers.Process[Document] {
	return processmanagers.Process[Document]{
		Name: "document_issue",
		On: []processmanagers.Handled{
			processmanagers.Brief(func(e events.NumberGranted) string { return e.DocumentID.String() },
				func(e events.NumberGranted) bool { return !e.RunID.IsZero() }),
			processmanagers.On(func(e events.InvoiceIssued) string { return e.InvoiceID.String() }),
			processmanagers.On(voidedInvoice),
			processmanagers.On(func(e events.CreditNoteIssued) string { return e.CreditNoteID.String() }),
			processmanagers.On(func(e events.CreditNoteVoided) string { return e.StrayOf.String() }),
		},
		Decide: decideDocument, Evolve: evolveDocument,
		Ended: func(s Document) bool { return s.Final },
	}
}

// voidedInvoice is the document whose number was voided. A draft that is voided before its number is granted concerns
// no instance: the number is still to come and must end in a document.
func voidedInvoice(e events.InvoiceVoided) string {
	switch {
	case e.Number == "":
		return ""
	case !e.StrayOf.IsZero():
		return e.StrayOf.String()
	}
	return e.InvoiceID.String()
}

// evolveDocument follows the document. It is final when its number is on an issued or a voided document.
func evolveDocument(s Document, in processmanagers.Input) Document {
	if in.Refusal != nil {
		s.Refused = s.Refused || refusedForGood(*in.Refusal)
		return s
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.NumberGranted:
		s.Kind, s.DocumentID, s.SubscriberID, s.Number = e.Document, e.DocumentID, e.SubscriberID, e.Number
		s.ByRun = !e.RunID.IsZero()
	case events.InvoiceIssued, events.CreditNoteIssued, events.InvoiceVoided, events.CreditNoteVoided:
		s.Final = true
	}
	return s
}

// refusedForGood reports whether an issue was refused for another reason than a concurrent change of the account.
func refusedForGood(r processmanagers.Refusal) bool {
	return r.Command == commands.IssueInvoice{}.CommandName() && r.Code != "concurrent_change"
}

// decideDocument returns the next step. The step follows from the state after the input, so a time-out repeats the same
// step.
func decideDocument(s Document, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	after := evolveDocument(s, in)
	if after.Final || after.Number == "" {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: stalled}}}, nil
	}
	if in.Event != nil && after.ByRun {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: stalled, At: now.Add(ForRun)}}}, nil
	}
	out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: stalled, At: now.Add(patience)}}}
	if in.Refusal != nil && !refusedForGood(*in.Refusal) {
		return out, nil // tried again when the timer comes due
	}
	out.Commands = []commands.Command{step(after)}
	return out, nil
}

// step returns the command that leads from the present state to the next one.
func step(s Document) commands.Command {
	switch {
	case s.Kind == commands.CreditNoteDocument:
		return commands.IssueCreditNote{
			SubscriberID: s.SubscriberID, CreditNoteID: id.As[id.Receipt](s.DocumentID), Number: s.Number,
		}
	case s.Refused:
		return commands.VoidInvoice{
			SubscriberID: s.SubscriberID, InvoiceID: id.As[id.Invoice](s.DocumentID), Reason: refusedReason,
			Number: s.Number,
		}
	}
	return commands.IssueInvoice{
		SubscriberID: s.SubscriberID, InvoiceID: id.As[id.Invoice](s.DocumentID), Number: s.Number,
	}
}
