package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeOnuEvent is an event of "cpeonu-<id>": the optical end of a CPE, which is set up at the organization's optical
// line terminal, and taken out of it when the organization gives the CPE up.
//
//sumtype:decl
type CpeOnuEvent interface {
	Event
	cpeOnuEvent()
}

// CpeOnuSetUp is the kind of operation that sets an ONU up, in the words of the API.
const CpeOnuSetUp CpeOperationKind = "onu-setup"

// The steps of a set-up, in their order.
const (
	CpeOnuRegister    = "register"    // at the terminal's port
	CpeOnuVLAN        = "vlan"        // of its service
	CpeOnuCredentials = "credentials" // of PPPoE, on the CPE
	CpeOnuTags        = "tags"        // of the CPE at its server
)

// CpeOnuPlace says where an ONU is and what it serves.
type CpeOnuPlace struct {
	OrgSlug string `json:"orgSlug"` // whose terminal it is
	OLT     string `json:"olt"`
	Port    string `json:"port"`
	Serial  string `json:"serial"`
	VLAN    int    `json:"vlan"`
}

// CpeOnuSubject says which set-up of which ONU an event is about, and whose it is.
type CpeOnuSubject struct {
	OnuID       id.CPEOnu       `json:"onuId"`
	CpeID       id.CPE          `json:"cpeId"`
	OrgID       id.Organization `json:"orgId"`
	OperationID id.CPEOperation `json:"operationId"`
}

// CpeOnuAsked records that somebody asked for a set-up. Until it is taken out, the ONU is that of the CPE.
type CpeOnuAsked struct {
	CpeOnuSubject
	SubscriberID id.Subscriber `json:"subscriberId"` // whose CPE it was; null = no customer's
	Place        CpeOnuPlace   `json:"place"`
	Steps        []string      `json:"steps"`
	// First is of a request that came with a claim, which may be refused yet: the CPE keeps every other ONU.
	First     bool      `json:"first,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"` // from then on nothing more is done
	At        time.Time `json:"at"`
}

// CpeOnuStepDone records that one step was done.
type CpeOnuStepDone struct {
	CpeOnuSubject
	Step string    `json:"step"`
	At   time.Time `json:"at"`
}

// CpeOnuReady records that all steps were done.
type CpeOnuReady struct {
	CpeOnuSubject
	At time.Time `json:"at"`
}

// CpeOnuFailed records why the set-up ended before. What was done by then stays. One that was not registered is free.
type CpeOnuFailed struct {
	CpeOnuSubject
	Step    string    `json:"step"` // the one that was refused; "" = none was
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// CpeOnuExpired records that the steps were not all done in time; otherwise as CpeOnuFailed.
type CpeOnuExpired struct {
	CpeOnuSubject
	At time.Time `json:"at"`
}

// CpeOnuLeaving records that the ONU is to be taken out of its terminal.
type CpeOnuLeaving struct {
	CpeOnuSubject
	Place CpeOnuPlace `json:"place"`
	At    time.Time   `json:"at"`
}

// CpeOnuTakenOut records that the terminal does not have the ONU any more: it is free.
type CpeOnuTakenOut struct {
	CpeOnuSubject
	At time.Time `json:"at"`
}

// CpeOnuPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type CpeOnuPeriodClosed struct {
	OnuID   id.CPEOnu       `json:"onuId"`
	OrgID   id.Organization `json:"orgId"`
	Opening []byte          `json:"opening"` // JSON of the aggregate's state
}

func (CpeOnuAsked) EventType() string        { return "cpe.CpeOnuAsked.v1" }
func (CpeOnuStepDone) EventType() string     { return "cpe.CpeOnuStepDone.v1" }
func (CpeOnuReady) EventType() string        { return "cpe.CpeOnuReady.v1" }
func (CpeOnuFailed) EventType() string       { return "cpe.CpeOnuFailed.v1" }
func (CpeOnuExpired) EventType() string      { return "cpe.CpeOnuExpired.v1" }
func (CpeOnuLeaving) EventType() string      { return "cpe.CpeOnuLeaving.v1" }
func (CpeOnuTakenOut) EventType() string     { return "cpe.CpeOnuTakenOut.v1" }
func (CpeOnuPeriodClosed) EventType() string { return "cpe.CpeOnuPeriodClosed.v1" }

func (CpeOnuAsked) cpeOnuEvent()        {}
func (CpeOnuStepDone) cpeOnuEvent()     {}
func (CpeOnuReady) cpeOnuEvent()        {}
func (CpeOnuFailed) cpeOnuEvent()       {}
func (CpeOnuExpired) cpeOnuEvent()      {}
func (CpeOnuLeaving) cpeOnuEvent()      {}
func (CpeOnuTakenOut) cpeOnuEvent()     {}
func (CpeOnuPeriodClosed) cpeOnuEvent() {}
