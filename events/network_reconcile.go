package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReconcileEvent is an event of "reconcile-<run id>": one run of writes to one router. It is what the audit log shows.
//
//sumtype:decl
type ReconcileEvent interface {
	Event
	reconcileEvent()
}

// ReconcileKind says what a run is for.
type ReconcileKind string

// The kinds of run.
const (
	ReconcileApply    ReconcileKind = "apply"    // one service, as desired
	ReconcileRemove   ReconcileKind = "remove"   // one service, away
	ReconcileRecreate ReconcileKind = "recreate" // one service: the old resources, away
	ReconcileDevice   ReconcileKind = "device"   // all services of a device, and its orphans
	ReconcileFirewall ReconcileKind = "firewall" // the Platform-fw rules of a device
)

// ReconcileOutcome says how a run ended.
type ReconcileOutcome string

// The outcomes.
const (
	ReconcileDone        ReconcileOutcome = "done"        // read back and as desired
	ReconcileRefused     ReconcileOutcome = "refused"     // the router said no
	ReconcileUnreachable ReconcileOutcome = "unreachable" // no answer
	ReconcileUnstable    ReconcileOutcome = "unstable"    // read back and still different: somebody else is writing
)

// RouterStep is one write: what it does to which resource. Secret values are masked.
type RouterStep struct {
	Path      string            `json:"path"`      // menu, "ip/pool"
	Operation string            `json:"operation"` // "add", "set", "remove" or "move"
	Name      string            `json:"name"`      // of the resource, as people know it
	Before    map[string]string `json:"before"`    // the fields that change; all of them of what is removed
	After     map[string]string `json:"after"`
}

// ReconcileRequested records that somebody wants a device or its firewall brought in line.
type ReconcileRequested struct {
	RunID    id.Run          `json:"runId"`
	OrgID    id.Organization `json:"orgId"`
	DeviceID id.Device       `json:"deviceId"`
	Kind     ReconcileKind   `json:"kind"`
	At       time.Time       `json:"at"`
}

// ReconcileStarted records that a run begins.
type ReconcileStarted struct {
	RunID     id.Run          `json:"runId"`
	OrgID     id.Organization `json:"orgId"`
	DeviceID  id.Device       `json:"deviceId"`
	ServiceID id.Service      `json:"serviceId"` // null for a whole device
	Kind      ReconcileKind   `json:"kind"`
	By        Actor           `json:"by"` // who asked, also when a job acts
	At        time.Time       `json:"at"`
}

// ReconcilePlanned records the writes that are about to be sent, so that one whose answer is lost is still accounted
// for.
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
	ServiceID id.Service      `json:"serviceId"` // null for what belongs to no service
	Seq       int             `json:"seq"`       // from 1 within the run
	Step      RouterStep      `json:"step"`
	Found     bool            `json:"found"` // its answer was lost; the router was found to have it
	By        Actor           `json:"by"`
	At        time.Time       `json:"at"`
}

// ReconcileFinished records how the run ended.
type ReconcileFinished struct {
	RunID     id.Run           `json:"runId"`
	OrgID     id.Organization  `json:"orgId"`
	DeviceID  id.Device        `json:"deviceId"`
	ServiceID id.Service       `json:"serviceId"`
	Kind      ReconcileKind    `json:"kind"`
	Writes    int              `json:"writes"`
	Outcome   ReconcileOutcome `json:"outcome"`
	Path      string           `json:"path"` // where it stopped, "" when done
	Operation string           `json:"operation"`
	Message   string           `json:"message"` // the router's words
	At        time.Time        `json:"at"`
}

// ReconcilePeriodClosed is the last event of a full period: the next begins with Opening.
type ReconcilePeriodClosed struct {
	RunID   id.Run `json:"runId"`
	Opening []byte `json:"opening"`
}

func (ReconcileRequested) EventType() string    { return "network.ReconcileRequested.v1" }
func (ReconcileStarted) EventType() string      { return "network.ReconcileStarted.v1" }
func (ReconcilePlanned) EventType() string      { return "network.ReconcilePlanned.v1" }
func (RouterWritten) EventType() string         { return "network.RouterWritten.v1" }
func (ReconcileFinished) EventType() string     { return "network.ReconcileFinished.v1" }
func (ReconcilePeriodClosed) EventType() string { return "network.ReconcilePeriodClosed.v1" }

func (ReconcileRequested) reconcileEvent()    {}
func (ReconcileStarted) reconcileEvent()      {}
func (ReconcilePlanned) reconcileEvent()      {}
func (RouterWritten) reconcileEvent()         {}
func (ReconcileFinished) reconcileEvent()     {}
func (ReconcilePeriodClosed) reconcileEvent() {}
