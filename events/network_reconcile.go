package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReconcileEvent is an event of "reconcile-<run id>": one run of writes to one router. The audit log shows these
// writes.
//
//sumtype:decl
type ReconcileEvent interface {
	Event
	reconcileEvent()
}

// ReconcileKind is the purpose of a run.
type ReconcileKind string

// The kinds of run.
const (
	ReconcileApply    ReconcileKind = "apply"    // makes one service as desired
	ReconcileRemove   ReconcileKind = "remove"   // removes one service
	ReconcileRecreate ReconcileKind = "recreate" // removes the old resources of one service before a re-creation
	ReconcileDevice   ReconcileKind = "device"   // makes all services of a device as desired and removes its orphans
	ReconcileSetup    ReconcileKind = "setup"    // makes the setup of a device as desired, its firewall rules included
	ReconcileFirewall ReconcileKind = "firewall" // makes the platform's firewall rules on a device as desired
)

// ReconcileOutcome is the result of a run.
type ReconcileOutcome string

// The outcomes.
const (
	ReconcileDone        ReconcileOutcome = "done"        // read again and as desired, but for what its message names
	ReconcileRefused     ReconcileOutcome = "refused"     // the router refused a write
	ReconcileUnreachable ReconcileOutcome = "unreachable" // the router did not answer
	// read again and still different: another program or person is writing too
	ReconcileUnstable ReconcileOutcome = "unstable"
)

// RouterStep is one write to one resource of a router. Secret values are masked.
type RouterStep struct {
	Path      string            `json:"path"`      // menu, such as "ip/pool"
	Operation string            `json:"operation"` // "add", "set", "remove" or "move"
	Name      string            `json:"name"`      // of the resource, as people know it
	Before    map[string]string `json:"before"`    // the fields that change; all fields of a removed resource
	After     map[string]string `json:"after"`
}

// ReconcileRequested records that a person asked to make a device or its firewall as desired.
type ReconcileRequested struct {
	RunID    id.Run          `json:"runId"`
	OrgID    id.Organization `json:"orgId"`
	DeviceID id.Device       `json:"deviceId"`
	Kind     ReconcileKind   `json:"kind"`
	At       time.Time       `json:"at"`
}

// ReconcileStarted records that a run begins. A repeated start after a crash is not recorded.
type ReconcileStarted struct {
	RunID     id.Run          `json:"runId"`
	OrgID     id.Organization `json:"orgId"`
	DeviceID  id.Device       `json:"deviceId"`
	ServiceID id.Service      `json:"serviceId"` // null for a whole device
	Kind      ReconcileKind   `json:"kind"`
	By        Actor           `json:"by"` // the actor who asked, also when a job does the work
	At        time.Time       `json:"at"`
}

// ReconcilePlanned records the writes that are about to be sent, so that a write with a lost answer can be found later.
type ReconcilePlanned struct {
	RunID id.Run       `json:"runId"`
	Steps []RouterStep `json:"steps"`
	At    time.Time    `json:"at"`
}

// RouterWritten records one write that the router took.
type RouterWritten struct {
	RunID     id.Run          `json:"runId"`
	OrgID     id.Organization `json:"orgId"`
	DeviceID  id.Device       `json:"deviceId"`
	ServiceID id.Service      `json:"serviceId"` // null for the firewall and for orphans without a readable tag
	Seq       int             `json:"seq"`       // from 1 within the run
	Step      RouterStep      `json:"step"`
	Found     bool            `json:"found"` // the answer was lost, and the write was seen at the next read
	By        Actor           `json:"by"`
	At        time.Time       `json:"at"`
}

// RouterWriteRefused records one write that the router refused, in its own words. The router is as it was before.
type RouterWriteRefused struct {
	RunID     id.Run          `json:"runId"`
	OrgID     id.Organization `json:"orgId"`
	DeviceID  id.Device       `json:"deviceId"`
	ServiceID id.Service      `json:"serviceId"` // null for the router's own setup
	Step      RouterStep      `json:"step"`
	Message   string          `json:"message"`
	By        Actor           `json:"by"`
	At        time.Time       `json:"at"`
}

// ReconcileFinished records the result of a run.
type ReconcileFinished struct {
	RunID     id.Run           `json:"runId"`
	OrgID     id.Organization  `json:"orgId"`
	DeviceID  id.Device        `json:"deviceId"`
	ServiceID id.Service       `json:"serviceId"`
	Kind      ReconcileKind    `json:"kind"`
	Writes    int              `json:"writes"`
	Outcome   ReconcileOutcome `json:"outcome"`
	Path      string           `json:"path"` // menu of the write that failed; "" when done
	Operation string           `json:"operation"`
	Message   string           `json:"message"` // the router's error text
	At        time.Time        `json:"at"`
}

// ReconcilePeriodClosed is the last event of a full period. The next period begins with Opening, JSON of the
// aggregate's state.
type ReconcilePeriodClosed struct {
	RunID   id.Run `json:"runId"`
	Opening []byte `json:"opening"`
}

func (ReconcileRequested) EventType() string    { return "network.ReconcileRequested.v1" }
func (ReconcileStarted) EventType() string      { return "network.ReconcileStarted.v1" }
func (ReconcilePlanned) EventType() string      { return "network.ReconcilePlanned.v1" }
func (RouterWritten) EventType() string         { return "network.RouterWritten.v1" }
func (RouterWriteRefused) EventType() string    { return "network.RouterWriteRefused.v1" }
func (ReconcileFinished) EventType() string     { return "network.ReconcileFinished.v1" }
func (ReconcilePeriodClosed) EventType() string { return "network.ReconcilePeriodClosed.v1" }

func (ReconcileRequested) reconcileEvent()    {}
func (ReconcileStarted) reconcileEvent()      {}
func (ReconcilePlanned) reconcileEvent()      {}
func (RouterWritten) reconcileEvent()         {}
func (RouterWriteRefused) reconcileEvent()    {}
func (ReconcileFinished) reconcileEvent()     {}
func (ReconcilePeriodClosed) reconcileEvent() {}
