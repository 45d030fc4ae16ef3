package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// CpeEvent is an event of "cpe-<id>": equipment in a customer's home that the CPE server manages. The platform owns it
// until an organization has claimed it, and again after it was released.
//
//sumtype:decl
type CpeEvent interface {
	Event
	cpeEvent()
}

// CpeIdentity tells one CPE from all others; its id is derived from it.
type CpeIdentity struct {
	SerialNumber string `json:"serialNumber"`
	OUI          string `json:"oui"`          // of the manufacturer, in capitals
	ProductClass string `json:"productClass"` // "" = the device names none
}

// CpeDetails describes a CPE in its own words; "" = it has not said so.
type CpeDetails struct {
	Manufacturer    string `json:"manufacturer"`
	Model           string `json:"model"`
	FirmwareVersion string `json:"firmwareVersion"`
}

// CpeIdentified records that a CPE has called for the first time. It belongs to nobody yet.
type CpeIdentified struct {
	CpeID    id.CPE      `json:"cpeId"`
	Identity CpeIdentity `json:"identity"`
	At       time.Time   `json:"at"`
}

// CpeDetailsLearned records what the CPE server knows about a CPE, when it is new or has changed.
type CpeDetailsLearned struct {
	CpeID   id.CPE          `json:"cpeId"`
	OrgID   id.Organization `json:"orgId"` // null = nobody has claimed it
	Details CpeDetails      `json:"details"`
	At      time.Time       `json:"at"`
}

// CpeClaimed records that an organization took a CPE of nobody. The subscriber and the subscription are null when only
// the organization is known.
type CpeClaimed struct {
	CpeID          id.CPE          `json:"cpeId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	At             time.Time       `json:"at"`
}

// CpeAssigned records that the platform gave a CPE of nobody to an organization; otherwise as CpeClaimed.
type CpeAssigned struct {
	CpeID          id.CPE          `json:"cpeId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	At             time.Time       `json:"at"`
}

// CpeDescribed records how staff call a CPE and where it stands. It holds until the CPE gets another customer.
type CpeDescribed struct {
	CpeID        id.CPE          `json:"cpeId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"` // null = it has no customer yet
	Label        personal.Text   `json:"label"`
	Location     personal.Text   `json:"location"`
	At           time.Time       `json:"at"`
}

// CpeSubscriberAssigned records whose CPE it is from now on, and the login that it uses.
type CpeSubscriberAssigned struct {
	CpeID        id.CPE          `json:"cpeId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	// SubscriptionID has the login; null = the customer has no service yet.
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PushNow        bool            `json:"pushNow"` // the CPE is asked to fetch its settings at once
	At             time.Time       `json:"at"`
}

// CpeSubscriberRemoved records that a CPE is no longer a customer's: another one gets it, or it is released.
type CpeSubscriberRemoved struct {
	CpeID        id.CPE          `json:"cpeId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	At           time.Time       `json:"at"`
}

// CpeReleased records that an organization gave a CPE up: it waits to be claimed again, without tags and login.
type CpeReleased struct {
	CpeID id.CPE          `json:"cpeId"`
	OrgID id.Organization `json:"orgId"` // that gave it up
	At    time.Time       `json:"at"`
}

// CpeFaultClearAsked records that somebody had the CPE server forget a fault of a CPE. It is recorded before the server
// is asked.
type CpeFaultClearAsked struct {
	CpeID   id.CPE          `json:"cpeId"`
	OrgID   id.Organization `json:"orgId"`
	Channel string          `json:"channel"` // of the CPE server: of a preset, or of a task
	Code    string          `json:"code"`    // of the fault, such as "cwmp.9007"
	At      time.Time       `json:"at"`
}

// CpeSignInProven records that a CPE has shown the CPE server the password that was made for it: from now on it must.
type CpeSignInProven struct {
	CpeID id.CPE          `json:"cpeId"`
	OrgID id.Organization `json:"orgId"`
	At    time.Time       `json:"at"`
}

// CpeSignInEnded records that a CPE is let in without its password, which is worth nothing any more, until it has shown
// a new one: somebody wanted that, or it is about to lose its settings.
type CpeSignInEnded struct {
	CpeID id.CPE          `json:"cpeId"`
	OrgID id.Organization `json:"orgId"`
	At    time.Time       `json:"at"`
}

func (CpeIdentified) EventType() string         { return "cpe.CpeIdentified.v1" }
func (CpeDetailsLearned) EventType() string     { return "cpe.CpeDetailsLearned.v1" }
func (CpeClaimed) EventType() string            { return "cpe.CpeClaimed.v1" }
func (CpeAssigned) EventType() string           { return "cpe.CpeAssigned.v1" }
func (CpeDescribed) EventType() string          { return "cpe.CpeDescribed.v1" }
func (CpeSubscriberAssigned) EventType() string { return "cpe.CpeSubscriberAssigned.v1" }
func (CpeSubscriberRemoved) EventType() string  { return "cpe.CpeSubscriberRemoved.v1" }
func (CpeReleased) EventType() string           { return "cpe.CpeReleased.v1" }
func (CpeFaultClearAsked) EventType() string    { return "cpe.CpeFaultClearAsked.v1" }
func (CpeSignInProven) EventType() string       { return "cpe.CpeSignInProven.v1" }
func (CpeSignInEnded) EventType() string        { return "cpe.CpeSignInEnded.v1" }

func (CpeIdentified) cpeEvent()         {}
func (CpeDetailsLearned) cpeEvent()     {}
func (CpeClaimed) cpeEvent()            {}
func (CpeAssigned) cpeEvent()           {}
func (CpeDescribed) cpeEvent()          {}
func (CpeSubscriberAssigned) cpeEvent() {}
func (CpeSubscriberRemoved) cpeEvent()  {}
func (CpeReleased) cpeEvent()           {}
func (CpeFaultClearAsked) cpeEvent()    {}
func (CpeSignInProven) cpeEvent()       {}
func (CpeSignInEnded) cpeEvent()        {}

// PersonalSubject is the customer, whose home it may describe. Before there is one, it is the CPE: then the text is
// about no person.
func (e CpeDescribed) PersonalSubject() uuid.UUID {
	if e.SubscriberID.IsZero() {
		return e.CpeID.UUID()
	}
	return e.SubscriberID.UUID()
}
