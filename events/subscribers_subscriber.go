package events

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriberEvent is an event of "subscriber-<id>", one customer.
//
//sumtype:decl
type SubscriberEvent interface {
	Event
	subscriberEvent()
}

// Location is the place of the service: degrees, WGS 84.
type Location struct {
	Latitude  float64
	Longitude float64
}

// Text is the place as events have it: latitude and longitude, such as "-1.28 36.82". It is empty for nil.
func (l *Location) Text() personal.Text {
	if l == nil {
		return personal.Text{}
	}
	return personal.Of(strconv.FormatFloat(l.Latitude, 'f', -1, 64) + " " +
		strconv.FormatFloat(l.Longitude, 'f', -1, 64))
}

// SubscriberDetails are the facts about a customer that an operator may correct. The subject of the personal fields is
// the subscriber.
type SubscriberDetails struct {
	FirstName personal.Text `json:"firstName"`
	LastName  personal.Text `json:"lastName"`
	Phone     personal.Text `json:"phone"` // E.164
	// SecondPhone is another phone of the customer, E.164; empty = none.
	SecondPhone personal.Text   `json:"secondPhone,omitzero"`
	Email       personal.Text   `json:"email"` // lower case
	Address     personal.Text   `json:"address"`
	Location    personal.Text   `json:"location"` // see Location.Text
	Tags        []personal.Text `json:"tags,omitempty"`
	Notes       personal.Text   `json:"notes"`
	ExternalRef personal.Text   `json:"externalRef"`     // the customer in another system, which can find the person
	TaxPIN      personal.Text   `json:"taxPin,omitzero"` // of a customer who wants it on documents
	// AccountAliases are account numbers from another system that payments may still name, in the form of
	// commands.NormalAlias.
	AccountAliases []personal.Text `json:"accountAliases,omitempty"`
	Language       Language        `json:"language,omitempty"` // of messages; "" = the organization's
	// OnlyNeeded customers get no other messages than those of which MessageTemplate.Needed says so.
	OnlyNeeded bool `json:"onlyNeeded,omitempty"`
	WhatsApp   bool `json:"whatsApp,omitempty"` // wants messages there, where they go there
	// MessageSecond sends messages to the second phone in place of the first.
	MessageSecond bool `json:"messageSecond,omitempty"`
}

// Place is the location, nil when there is none, when it cannot be read or when the customer was forgotten.
func (d SubscriberDetails) Place() *Location {
	latitude, longitude, _ := strings.Cut(d.Location.Reveal(), " ")
	var l Location
	var faults [2]error
	l.Latitude, faults[0] = strconv.ParseFloat(latitude, 64)
	l.Longitude, faults[1] = strconv.ParseFloat(longitude, 64)
	if faults[0] != nil || faults[1] != nil {
		return nil
	}
	return &l
}

// SubscriberRegistered records a new customer and the account number for payments.
type SubscriberRegistered struct {
	SubscriberID  id.Subscriber     `json:"subscriberId"`
	OrgID         id.Organization   `json:"orgId"`
	AccountNumber string            `json:"accountNumber"` // 8 digits, Luhn, unique on the platform
	Currency      money.Currency    `json:"currency"`
	Details       SubscriberDetails `json:"details"`
	// ImportRow is the key of the content of the row that an import made the customer of; none = of no import, or of
	// one before rows had keys.
	ImportRow    personal.Text `json:"importRow,omitzero"`
	RegisteredAt time.Time     `json:"registeredAt"`
}

// SubscriberDetailsCorrected records all details that apply from now on.
type SubscriberDetailsCorrected struct {
	SubscriberID id.Subscriber     `json:"subscriberId"`
	Details      SubscriberDetails `json:"details"`
}

// SubscriberBlocked records that an operator blocked the customer. Dunning is separate.
type SubscriberBlocked struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Reason       personal.Text `json:"reason"`
}

// SubscriberUnblocked ends the operator's block.
type SubscriberUnblocked struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Reason       personal.Text `json:"reason"`
}

// SubscriberForgotten records that the customer is erased, or removed with the import that made it. Every projection
// clears the personal fields of the customer.
type SubscriberForgotten struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Reason       string        `json:"reason"`
	Undone       bool          `json:"undone,omitempty"` // removed with the import: it never was a customer here
}

func (SubscriberRegistered) EventType() string { return "subscribers.SubscriberRegistered.v3" }
func (SubscriberDetailsCorrected) EventType() string {
	return "subscribers.SubscriberDetailsCorrected.v3"
}
func (SubscriberBlocked) EventType() string         { return "subscribers.SubscriberBlocked.v2" }
func (SubscriberUnblocked) EventType() string       { return "subscribers.SubscriberUnblocked.v2" }
func (SubscriberForgotten) EventType() string       { return "subscribers.SubscriberForgotten.v1" }
func (SubscriberRegistered) subscriberEvent()       {}
func (SubscriberDetailsCorrected) subscriberEvent() {}
func (SubscriberBlocked) subscriberEvent()          {}
func (SubscriberUnblocked) subscriberEvent()        {}
func (SubscriberForgotten) subscriberEvent()        {}

func (e SubscriberRegistered) PersonalSubject() uuid.UUID       { return e.SubscriberID.UUID() }
func (e SubscriberDetailsCorrected) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
func (e SubscriberBlocked) PersonalSubject() uuid.UUID          { return e.SubscriberID.UUID() }
func (e SubscriberUnblocked) PersonalSubject() uuid.UUID        { return e.SubscriberID.UUID() }

func (SubscriberBlocked) remark()   {}
func (SubscriberUnblocked) remark() {}
