package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// DeviceSetupApplied records that a router was read again and its setup is as desired. RadiusRef refers to the RADIUS
// secret that it has now: most routers hide it, so that a reading cannot show it.
type DeviceSetupApplied struct {
	DeviceID  id.Device `json:"deviceId"`
	RunID     id.Run    `json:"runId"`
	RadiusRef id.Secret `json:"radiusRef"`
	At        time.Time `json:"at"`
}

// DeviceSetupDrifted records that the setup of a router differs from the desired one. There is one event for each hash,
// even when the difference is seen many times.
type DeviceSetupDrifted struct {
	DeviceID    id.Device         `json:"deviceId"`
	OrgID       id.Organization   `json:"orgId"`
	FirstSeenAt time.Time         `json:"firstSeenAt"` // start of the time in which the setup differs without a break
	Hash        string            `json:"hash"`
	Resources   []DriftedResource `json:"resources"`
	At          time.Time         `json:"at"`
}

// DeviceSetupCleared records that the difference disappeared without a write by the platform.
type DeviceSetupCleared struct {
	DeviceID id.Device `json:"deviceId"`
	At       time.Time `json:"at"`
}

// DeviceDriftUnchecked records that a router could not be compared with what it should have, although it answers. There
// is one event until a check succeeds: see DeviceDriftChecked.
type DeviceDriftUnchecked struct {
	DeviceID id.Device `json:"deviceId"`
	Error    string    `json:"error"` // the router's words, or why it was not read, in a sentence
	At       time.Time `json:"at"`
}

// DeviceDriftChecked records the first check that succeeded after DeviceDriftUnchecked.
type DeviceDriftChecked struct {
	DeviceID id.Device `json:"deviceId"`
	At       time.Time `json:"at"`
}

func (DeviceSetupApplied) EventType() string { return "network.DeviceSetupApplied.v1" }
func (DeviceSetupDrifted) EventType() string { return "network.DeviceSetupDrifted.v1" }
func (DeviceSetupCleared) EventType() string { return "network.DeviceSetupCleared.v1" }

func (DeviceDriftUnchecked) EventType() string { return "network.DeviceDriftUnchecked.v1" }
func (DeviceDriftChecked) EventType() string   { return "network.DeviceDriftChecked.v1" }

func (DeviceSetupApplied) deviceEvent()   {}
func (DeviceSetupDrifted) deviceEvent()   {}
func (DeviceSetupCleared) deviceEvent()   {}
func (DeviceDriftUnchecked) deviceEvent() {}
func (DeviceDriftChecked) deviceEvent()   {}
