package commands

import (
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SupportCategory begins the names of the streams of support requests.
const SupportCategory = "supportrequest"

// Limits of what is written, in characters.
const (
	MaxSupportSubject = 120
	MaxSupportText    = 4000
)

// SupportCommand acts on one support request.
//
//sumtype:decl
type SupportCommand interface {
	Command
	supportCommand()
}

// OpenSupportRequest begins a request of a customer. The caller has made sure that the organization has the customer,
// and that a customer asks for none but the own.
type OpenSupportRequest struct {
	RequestID    id.Support
	OrgID        id.Organization
	SubscriberID id.Subscriber
	ByCustomer   bool
	Subject      personal.Text
	Text         personal.Text
}

// ContinueSupportRequest is the customer's next text. It opens a closed request again for a while. Fails:
// support_request_not_found, support_request_closed, support_request_full.
type ContinueSupportRequest struct {
	RequestID id.Support
	Text      personal.Text
}

// AnswerSupportRequest is a text of staff that the customer reads. It opens a closed request again for a while. Fails:
// support_request_not_found, support_request_closed, support_request_full.
type AnswerSupportRequest struct {
	RequestID id.Support
	Text      personal.Text
}

// NoteSupportRequest is a text of staff for staff. Fails: support_request_not_found, support_request_full.
type NoteSupportRequest struct {
	RequestID id.Support
	Text      personal.Text
}

// AssignSupportRequest says who takes care of it. The caller has made sure that the user is staff of the organization.
// Fails: support_request_not_found, support_request_full.
type AssignSupportRequest struct {
	RequestID id.Support
	UserID    id.User // zero = nobody in particular
}

// CloseSupportRequest ends the request; a closed one stays closed. Fails: support_request_not_found.
type CloseSupportRequest struct {
	RequestID  id.Support
	ByCustomer bool
	Reason     string // "" = none; kept with the event
}

func (OpenSupportRequest) CommandName() string     { return "messaging.OpenSupportRequest" }
func (ContinueSupportRequest) CommandName() string { return "messaging.ContinueSupportRequest" }
func (AnswerSupportRequest) CommandName() string   { return "messaging.AnswerSupportRequest" }
func (NoteSupportRequest) CommandName() string     { return "messaging.NoteSupportRequest" }
func (AssignSupportRequest) CommandName() string   { return "messaging.AssignSupportRequest" }
func (CloseSupportRequest) CommandName() string    { return "messaging.CloseSupportRequest" }

func (c OpenSupportRequest) Target() Target     { return At(SupportCategory, c.RequestID) }
func (c ContinueSupportRequest) Target() Target { return At(SupportCategory, c.RequestID) }
func (c AnswerSupportRequest) Target() Target   { return At(SupportCategory, c.RequestID) }
func (c NoteSupportRequest) Target() Target     { return At(SupportCategory, c.RequestID) }
func (c AssignSupportRequest) Target() Target   { return At(SupportCategory, c.RequestID) }
func (c CloseSupportRequest) Target() Target    { return At(SupportCategory, c.RequestID) }

func (OpenSupportRequest) supportCommand()     {}
func (ContinueSupportRequest) supportCommand() {}
func (AnswerSupportRequest) supportCommand()   {}
func (NoteSupportRequest) supportCommand()     {}
func (AssignSupportRequest) supportCommand()   {}
func (CloseSupportRequest) supportCommand()    {}

// Validate checks form.
func (c OpenSupportRequest) Validate() error {
	var f failure.Faults
	f.Check(!c.RequestID.IsZero(), "requestId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	subject := c.Subject.Reveal()
	f.Check(shows(subject), "subject", "is required")
	f.Check(utf8.RuneCountInString(subject) <= MaxSupportSubject, "subject", "must be at most %d characters",
		MaxSupportSubject)
	checkLine(&f, "subject", subject)
	checkSupportText(&f, c.Text)
	return f.Err()
}

// Validate checks form.
func (c ContinueSupportRequest) Validate() error { return supportTextFault(c.Text) }

// Validate checks form.
func (c AnswerSupportRequest) Validate() error { return supportTextFault(c.Text) }

// Validate checks form.
func (c NoteSupportRequest) Validate() error { return supportTextFault(c.Text) }

// Validate has nothing to check: the id names the stream.
func (AssignSupportRequest) Validate() error { return nil }

// Validate checks form.
func (c CloseSupportRequest) Validate() error {
	var f failure.Faults
	f.Check(utf8.RuneCountInString(c.Reason) <= maxReason, "reason", "must be at most %d characters", maxReason)
	checkLines(&f, "reason", c.Reason)
	return f.Err()
}

// supportTextFault is checkSupportText of a command that has nothing else to check.
func supportTextFault(text personal.Text) error {
	var f failure.Faults
	checkSupportText(&f, text)
	return f.Err()
}

// checkSupportText accepts lines of ordinary characters.
func checkSupportText(f *failure.Faults, text personal.Text) {
	plain := text.Reveal()
	f.Check(shows(plain), "text", "is required")
	f.Check(utf8.RuneCountInString(plain) <= MaxSupportText, "text", "must be at most %d characters", MaxSupportText)
	checkLines(f, "text", plain)
}

// ErrNoSupportRequest is the failure for an unknown request, and for that of another customer or organization.
func ErrNoSupportRequest() error {
	return failure.NewNotFound("support_request_not_found", "There is no such support request.")
}
