package commands

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// LookupCategory begins the names of the streams of questions that the audit log shows.
const LookupCategory = "lookup"

// LookupCommand is a command to "lookup-<id>".
//
//sumtype:decl
type LookupCommand interface {
	Command
	lookupCommand()
}

// LookUpAddress records that somebody asks who had an address, so that the audit log shows it.
type LookUpAddress struct {
	LookupID     id.Lookup
	OrgID        id.Organization
	SubscriberID id.Subscriber // who will be in the answer, zero = nobody
	Address      personal.Text
	HadAt        time.Time
}

func (LookUpAddress) CommandName() string { return "audit.LookUpAddress" }
func (LookUpAddress) lookupCommand()      {}

// Target is a stream with this one question.
func (c LookUpAddress) Target() Target { return At(LookupCategory, c.LookupID) }

// Validate requires an address and an instant.
func (c LookUpAddress) Validate() error {
	var f failure.Faults
	_, err := netip.ParseAddr(c.Address.Reveal())
	f.Check(err == nil, "address", "must be an address")
	f.Check(!c.HadAt.IsZero(), "hadAt", "is required")
	return f.Err()
}

// ReadHistory records that somebody looks at the past of an aggregate, so that the audit log shows it.
type ReadHistory struct {
	LookupID id.Lookup
	OrgID    id.Organization // whose aggregate it is; zero = the platform's
	Category string
	TargetID id.Any
	Look     events.HistoryLook
	From     time.Time // of a difference; zero for other looks
	Until    time.Time // zero = the present
}

func (ReadHistory) CommandName() string { return "audit.ReadHistory" }
func (ReadHistory) lookupCommand()      {}

// Target is a stream with this one look.
func (c ReadHistory) Target() Target { return At(LookupCategory, c.LookupID) }

// Validate requires the aggregate and the kind of look.
func (c ReadHistory) Validate() error {
	var f failure.Faults
	f.Check(c.Category != "", "category", "is required")
	f.Check(!c.TargetID.IsZero(), "targetId", "is required")
	f.Check(c.Look != "", "look", "is required")
	return f.Err()
}

// ReadPersonalData records that somebody takes along all that is kept of a customer, so that the audit log shows it.
type ReadPersonalData struct {
	LookupID     id.Lookup
	OrgID        id.Organization
	SubscriberID id.Subscriber
}

func (ReadPersonalData) CommandName() string { return "audit.ReadPersonalData" }
func (ReadPersonalData) lookupCommand()      {}

// Target is a stream with this one look.
func (c ReadPersonalData) Target() Target { return At(LookupCategory, c.LookupID) }

// Validate requires the customer.
func (c ReadPersonalData) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	return f.Err()
}

// CallbackCategory is that of the provider's messages in the audit log. They have no streams.
const CallbackCategory = "callback"

// ReadCallback records that somebody reads a message of the provider that led to nothing, so that the audit log shows
// it.
type ReadCallback struct {
	LookupID   id.Lookup
	CallbackID id.Any
}

// RetryCallback records that somebody has such a message tried again.
type RetryCallback struct {
	LookupID   id.Lookup
	CallbackID id.Any
}

func (ReadCallback) CommandName() string  { return "audit.ReadCallback" }
func (RetryCallback) CommandName() string { return "audit.RetryCallback" }
func (ReadCallback) lookupCommand()       {}
func (RetryCallback) lookupCommand()      {}

// Target is a stream with this one look.
func (c ReadCallback) Target() Target { return At(LookupCategory, c.LookupID) }

// Target is a stream with this one try.
func (c RetryCallback) Target() Target { return At(LookupCategory, c.LookupID) }

// Validate requires the message.
func (c ReadCallback) Validate() error { return requireCallback(c.CallbackID) }

// Validate requires the message.
func (c RetryCallback) Validate() error { return requireCallback(c.CallbackID) }

// requireCallback checks that a message is named.
func requireCallback(callback id.Any) error {
	var f failure.Faults
	f.Check(!callback.IsZero(), "callbackId", "is required")
	return f.Err()
}
