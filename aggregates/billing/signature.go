package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Signatures defines the signatures of the tax authority: one stream for each document that needs one.
func Signatures() aggregates.Definition[Signature, commands.SignatureCommand, events.SignatureEvent] {
	return aggregates.Definition[Signature, commands.SignatureCommand, events.SignatureEvent]{
		Category: commands.SignatureCategory, Missing: commands.ErrNoSignature, Evolve: evolveSignature,
		Decide: decideSignature, Owner: func(s Signature) id.Organization { return s.OrgID },
		First: commands.QueueSignature{},
		Commands: []commands.SignatureCommand{
			commands.QueueSignature{}, commands.BeginSigning{}, commands.RecordSignature{},
			commands.RefuseSignature{}, commands.RetrySignature{}, commands.WithdrawSignature{},
			commands.VoidSignature{},
		},
	}
}

// SignatureState is how far a document is; its words are those of the API.
type SignatureState string

// The states. A withdrawn document is not handed over any more.
const (
	SignatureQueued    SignatureState = "queued"
	SignatureSigned    SignatureState = "signed"
	SignatureRefused   SignatureState = "refused"
	SignatureWithdrawn SignatureState = "withdrawn"
)

// Signature is the state of one document on its way to its signature. The zero value is a document that needs none.
type Signature struct {
	events.SignatureSubject
	State         SignatureState
	Total         money.Amount
	IssuedAt      time.Time
	Messages      bool
	Round         int  // number of retries
	Began         bool // the gateway may have the document
	Voided        bool // its invoice was voided after that
	ControlNumber string
	Verification  string
}

// Given reports whether customers get the document: one that is to be signed only with its signature, also while it is
// not queued for it yet.
func (s Signature) Given(toBeSigned bool) bool {
	return s.State == SignatureSigned || s.State == "" && !toBeSigned
}

// evolveSignature applies one recorded event.
func evolveSignature(s Signature, e events.SignatureEvent) Signature {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.SignatureQueued:
		return Signature{
			SignatureSubject: e.SignatureSubject, State: SignatureQueued, Total: e.Total, IssuedAt: e.IssuedAt,
			Messages: e.Messages,
		}
	case events.SigningBegan:
		s.Began = true
	case events.DocumentSigned:
		s.State, s.ControlNumber, s.Verification = SignatureSigned, e.ControlNumber, e.Verification
	case events.SignatureRefused:
		s.State, s.Began = SignatureRefused, false
	case events.SignatureRetried:
		s.State, s.Round = SignatureQueued, e.Round
	case events.SignatureWithdrawn:
		s.State = SignatureWithdrawn
	case events.CancellationDue:
		s.Voided = true
	}
	return s
}

// decideSignature only dispatches.
func decideSignature(s Signature, c commands.SignatureCommand, now time.Time) ([]events.SignatureEvent, error) {
	switch c := c.(type) {
	case commands.QueueSignature:
		return decideQueueSignature(s, c, now), nil
	case commands.VoidSignature:
		return decideVoidSignature(s, now), nil
	default: // the others are of a document that is there
	}
	if s.SignatureID.IsZero() {
		return nil, commands.ErrNoSignature()
	}
	switch c := c.(type) {
	case commands.BeginSigning:
		return decideBeginSigning(s, c, now)
	case commands.RecordSignature:
		return decideRecordSignature(s, c, now), nil
	case commands.RefuseSignature:
		return decideRefuseSignature(s, c, now), nil
	case commands.RetrySignature:
		return decideRetrySignature(s, c, now)
	case commands.WithdrawSignature:
		return decideWithdrawSignature(s, now), nil
	default: // decided above
	}
	return nil, nil
}

// decideQueueSignature begins the way of a document, once.
func decideQueueSignature(s Signature, c commands.QueueSignature, now time.Time) []events.SignatureEvent {
	if !s.SignatureID.IsZero() {
		return nil
	}
	return []events.SignatureEvent{events.SignatureQueued{
		SignatureSubject: c.SignatureSubject, Total: c.Total, IssuedAt: c.IssuedAt, Messages: c.Messages, At: now,
	}}
}

// decideBeginSigning records that the document leaves the house. A job of an earlier round, and of a document that has
// ended, is told to stop.
func decideBeginSigning(s Signature, c commands.BeginSigning, now time.Time) ([]events.SignatureEvent, error) {
	switch {
	case s.State != SignatureQueued || s.Round != c.Round:
		return nil, failure.NewConflict("signature_over", "This document is not handed over any more.")
	case s.Began:
		return nil, nil
	}
	return []events.SignatureEvent{events.SigningBegan{
		SignatureSubject: s.SignatureSubject, Round: s.Round, At: now,
	}}, nil
}

// decideRecordSignature takes the first signature, in whatever state the document is: the tax authority has it. Of a
// withdrawn document, which an attempt of long ago has brought there all the same, it has to be taken back.
func decideRecordSignature(s Signature, c commands.RecordSignature, now time.Time) []events.SignatureEvent {
	if s.State == SignatureSigned {
		return nil
	}
	signed := []events.SignatureEvent{events.DocumentSigned{
		SignatureSubject: s.SignatureSubject, ControlNumber: c.ControlNumber, Verification: c.Verification,
		SignedAt: c.SignedAt, Messages: s.Messages && s.State != SignatureWithdrawn && !s.Voided, At: now,
	}}
	if s.State == SignatureWithdrawn && !s.Voided && s.Document == events.TaxInvoice {
		signed = append(signed, s.cancellation(now))
	}
	return signed
}

// decideRefuseSignature takes the no of the present round. A voided document needs no repair.
func decideRefuseSignature(s Signature, c commands.RefuseSignature, now time.Time) []events.SignatureEvent {
	if s.State != SignatureQueued || s.Round != c.Round {
		return nil
	}
	refused := []events.SignatureEvent{events.SignatureRefused{
		SignatureSubject: s.SignatureSubject, Round: s.Round, Code: c.Code, Message: personal.Of(c.Message), At: now,
	}}
	if s.Voided {
		refused = append(refused, events.SignatureWithdrawn{SignatureSubject: s.SignatureSubject, At: now})
	}
	return refused
}

// decideRetrySignature begins another round.
func decideRetrySignature(s Signature, c commands.RetrySignature, now time.Time) ([]events.SignatureEvent, error) {
	if s.State != SignatureRefused {
		return nil, failure.NewConflict("signature_not_refused",
			"Only a document that was refused can be sent again.")
	}
	return []events.SignatureEvent{events.SignatureRetried{
		SignatureSubject: s.SignatureSubject, Round: s.Round + 1, Reason: personal.Of(c.Reason), At: now,
	}}, nil
}

// decideWithdrawSignature ends the way of a document that the tax authority does not have.
func decideWithdrawSignature(s Signature, now time.Time) []events.SignatureEvent {
	if s.State == SignatureSigned || s.State == SignatureWithdrawn {
		return nil
	}
	return []events.SignatureEvent{events.SignatureWithdrawn{SignatureSubject: s.SignatureSubject, At: now}}
}

// decideVoidSignature withdraws what the gateway certainly does not have, and asks for a cancellation of the rest.
func decideVoidSignature(s Signature, now time.Time) []events.SignatureEvent {
	switch {
	case s.SignatureID.IsZero(), s.Voided, s.State == SignatureWithdrawn:
		return nil
	case s.State == SignatureSigned, s.Began:
		return []events.SignatureEvent{s.cancellation(now)}
	}
	return []events.SignatureEvent{events.SignatureWithdrawn{SignatureSubject: s.SignatureSubject, At: now}}
}

// cancellation asks for the document that takes the invoice back.
func (s Signature) cancellation(now time.Time) events.CancellationDue {
	return events.CancellationDue{
		SignatureSubject: s.SignatureSubject,
		CancellationID:   id.Derive[id.Signature]("cancellation", s.SignatureID.String()), Total: s.Total, At: now,
	}
}
