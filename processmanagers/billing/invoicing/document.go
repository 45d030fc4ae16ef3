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

// Document is the state of a "document_issue" instance: one invoice or credit note on its way to its issue.
type Document struct {
	Kind         string          `json:"kind,omitempty"` // commands.InvoiceDocument or commands.CreditNoteDocument
	DocumentID   id.Any          `json:"documentId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Prefix       string          `json:"prefix,omitempty"` // of the series
	Number       string          `json:"number,omitempty"` // "" until it is granted
	Refused      bool            `json:"refused,omitempty"`
	Final        bool            `json:"final,omitempty"`
}

// DocumentProcess takes each drafted document to its issue, or to a voided document with a number.
func DocumentProcess() processmanagers.Process[Document] {
	return processmanagers.Process[Document]{
		Name: "document_issue",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.InvoiceDrafted) string { return e.InvoiceID.String() }),
			processmanagers.On(func(e events.CreditNoteDrafted) string { return e.CreditNoteID.String() }),
			processmanagers.On(func(e events.NumberGranted) string { return e.DocumentID.String() }),
			processmanagers.On(func(e events.InvoiceIssued) string { return e.InvoiceID.String() }),
			processmanagers.On(func(e events.InvoiceVoided) string { return e.InvoiceID.String() }),
			processmanagers.On(func(e events.CreditNoteIssued) string { return e.CreditNoteID.String() }),
		},
		Decide: decideDocument, Evolve: evolveDocument,
		Ended: func(s Document) bool { return s.Final },
	}
}

// evolveDocument follows the document. A draft that is voided before its number was granted is not final yet: the
// number is still to come and must end in a document.
func evolveDocument(s Document, in processmanagers.Input) Document {
	if in.Refusal != nil {
		s.Refused = s.Refused || refusedForGood(*in.Refusal)
		return s
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.InvoiceDrafted:
		s.Kind, s.DocumentID, s.OrgID = commands.InvoiceDocument, id.As[id.Any](e.InvoiceID), e.OrgID
		s.SubscriberID, s.Prefix = e.SubscriberID, e.Prefix
	case events.CreditNoteDrafted:
		s.Kind, s.DocumentID, s.OrgID = commands.CreditNoteDocument, id.As[id.Any](e.CreditNoteID), e.OrgID
		s.SubscriberID, s.Prefix = e.SubscriberID, e.Prefix
	case events.NumberGranted:
		s.Kind, s.DocumentID, s.OrgID, s.SubscriberID, s.Number = e.Document, e.DocumentID, e.OrgID, e.SubscriberID,
			e.Number
	case events.InvoiceIssued, events.CreditNoteIssued:
		s.Final = true
	case events.InvoiceVoided:
		s.Final = e.Number != ""
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
	if in.Event != nil {
		// The number is being granted; the event of the grant brings the next step.
		if voided, ok := in.Event.Event.(events.InvoiceVoided); ok && voided.Number == "" {
			return processmanagers.Output{}, nil
		}
	}
	after := evolveDocument(s, in)
	switch {
	case after.Final:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: stalled}}}, nil
	case after.Kind == "":
		return processmanagers.Output{}, nil
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
	case s.Number == "":
		return commands.GrantNumber{
			SeriesID: commands.SeriesOf(s.OrgID, s.Kind, s.Prefix), OrgID: s.OrgID, Document: s.Kind,
			DocumentID: s.DocumentID, SubscriberID: s.SubscriberID, Prefix: s.Prefix,
		}
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
