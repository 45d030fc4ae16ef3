package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeProvisionEvent is an event of "cpeprovision-<id>": a script of an organization that the CPE server runs when its
// CPEs inform. Scripts have no secrets: what they declare is read by everybody who administers the CPE server.
//
//sumtype:decl
type CpeProvisionEvent interface {
	Event
	cpeProvisionEvent()
}

// CpeProvisionSubject says which provision an event is about, and whose it is.
type CpeProvisionSubject struct {
	ProvisionID id.CPEProvision `json:"provisionId"`
	OrgID       id.Organization `json:"orgId"`
}

// CpeProvisionWritten records that a person wrote a script, or another version of it. The CPE server does not have it
// yet.
type CpeProvisionWritten struct {
	CpeProvisionSubject
	Name       string    `json:"name"`
	StoredName string    `json:"storedName"` // at the CPE server
	Place      int       `json:"place"`      // among those of the organization
	Tag        string    `json:"tag"`        // CPEs that have it run the script
	Version    int       `json:"version"`    // grows with each change, also a removal
	Script     string    `json:"script"`
	At         time.Time `json:"at"`
}

// CpeProvisionInstalled records that the CPE server has a version of the script, and the preset that runs it.
type CpeProvisionInstalled struct {
	CpeProvisionSubject
	Version int       `json:"version"`
	At      time.Time `json:"at"`
}

// CpeProvisionRefused records that the CPE server does not take a version of the script, or that somebody else has a
// script of this name there.
type CpeProvisionRefused struct {
	CpeProvisionSubject
	Version int       `json:"version"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// CpeProvisionRemoved records that a person took a script back. The CPE server may still have it.
type CpeProvisionRemoved struct {
	CpeProvisionSubject
	Version int       `json:"version"`
	At      time.Time `json:"at"`
}

// CpeProvisionUninstalled records that the CPE server does not have a removed script any more: its name is free.
type CpeProvisionUninstalled struct {
	CpeProvisionSubject
	Version int       `json:"version"` // of the removal
	At      time.Time `json:"at"`
}

// CpeProvisionPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type CpeProvisionPeriodClosed struct {
	CpeProvisionSubject
	Opening []byte `json:"opening"` // JSON of the aggregate's state
}

func (CpeProvisionWritten) EventType() string      { return "cpe.CpeProvisionWritten.v1" }
func (CpeProvisionInstalled) EventType() string    { return "cpe.CpeProvisionInstalled.v1" }
func (CpeProvisionRefused) EventType() string      { return "cpe.CpeProvisionRefused.v1" }
func (CpeProvisionRemoved) EventType() string      { return "cpe.CpeProvisionRemoved.v1" }
func (CpeProvisionUninstalled) EventType() string  { return "cpe.CpeProvisionUninstalled.v1" }
func (CpeProvisionPeriodClosed) EventType() string { return "cpe.CpeProvisionPeriodClosed.v1" }

func (CpeProvisionWritten) cpeProvisionEvent()      {}
func (CpeProvisionInstalled) cpeProvisionEvent()    {}
func (CpeProvisionRefused) cpeProvisionEvent()      {}
func (CpeProvisionRemoved) cpeProvisionEvent()      {}
func (CpeProvisionUninstalled) cpeProvisionEvent()  {}
func (CpeProvisionPeriodClosed) cpeProvisionEvent() {}
