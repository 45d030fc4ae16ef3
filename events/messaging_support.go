package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SupportEvent is an event of "supportrequest-<request id>": what a customer and the staff write to each other about
// one matter. All texts are sealed with the key of the customer, also those of staff.
//
//sumtype:decl
type SupportEvent interface {
	Event
	supportEvent()
}

// SupportSubject says which request an event is about, and whose it is.
type SupportSubject struct {
	RequestID    id.Support      `json:"requestId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
}

// SupportRequestOpened records a new request with its first text.
type SupportRequestOpened struct {
	SupportSubject
	ByCustomer bool          `json:"byCustomer"` // else staff wrote down what the customer said
	Subject    personal.Text `json:"subject"`
	Text       personal.Text `json:"text"`
	At         time.Time     `json:"at"`
}

// SupportRequestContinued records that the customer has written again.
type SupportRequestContinued struct {
	SupportSubject
	Number int           `json:"number"` // of the text in the request, the first one is 1
	Text   personal.Text `json:"text"`
	Reopen bool          `json:"reopen"` // the request was closed
	At     time.Time     `json:"at"`
}

// SupportRequestAnswered records what staff has written to the customer.
type SupportRequestAnswered struct {
	SupportSubject
	Number int           `json:"number"`
	Text   personal.Text `json:"text"`
	Reopen bool          `json:"reopen"` // the request was closed
	Tell   bool          `json:"tell"`   // a message says that there is an answer
	At     time.Time     `json:"at"`
}

// SupportRequestNoted records what staff has written for staff alone.
type SupportRequestNoted struct {
	SupportSubject
	Number int           `json:"number"`
	Text   personal.Text `json:"text"`
	At     time.Time     `json:"at"`
}

// SupportRequestAssigned records who takes care of the request.
type SupportRequestAssigned struct {
	SupportSubject
	UserID id.User   `json:"userId"` // null = nobody in particular
	At     time.Time `json:"at"`
}

// SupportRequestClosed records that there is nothing more to do.
type SupportRequestClosed struct {
	SupportSubject
	ByCustomer bool      `json:"byCustomer"` // else by staff
	At         time.Time `json:"at"`
}

func (SupportRequestOpened) EventType() string    { return "messaging.SupportRequestOpened.v1" }
func (SupportRequestContinued) EventType() string { return "messaging.SupportRequestContinued.v1" }
func (SupportRequestAnswered) EventType() string  { return "messaging.SupportRequestAnswered.v1" }
func (SupportRequestNoted) EventType() string     { return "messaging.SupportRequestNoted.v1" }
func (SupportRequestAssigned) EventType() string  { return "messaging.SupportRequestAssigned.v1" }
func (SupportRequestClosed) EventType() string    { return "messaging.SupportRequestClosed.v1" }

func (SupportRequestOpened) supportEvent()    {}
func (SupportRequestContinued) supportEvent() {}
func (SupportRequestAnswered) supportEvent()  {}
func (SupportRequestNoted) supportEvent()     {}
func (SupportRequestAssigned) supportEvent()  {}
func (SupportRequestClosed) supportEvent()    {}

// PersonalSubject is the customer: whatever is written about a matter goes with its person.
func (s SupportSubject) PersonalSubject() uuid.UUID { return s.SubscriberID.UUID() }
