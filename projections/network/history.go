package networkviews

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// HistoryName keys the projection's checkpoint and schemas, so it never changes.
const HistoryName = "network_history"

// History is the timeline of each service and router: requests, writes, drift, repairs and errors.
type History struct{}

// historyDDL is compiled in from history.sql.
//
//go:embed history.sql
var historyDDL string

// Name keys checkpoint and schemas.
func (History) Name() string { return HistoryName }

// Version must grow with every change to the tables or to Apply.
func (History) Version() int { return 7 }

// DDL creates the tables of history.sql.
func (History) DDL() string { return historyDDL }

// TenantTables are under row-level security.
func (History) TenantTables() []string { return []string{"entries", "runs"} }

// Handles lists the events that change the tables.
func (History) Handles() []string {
	return []string{
		events.ServiceRequested{}.EventType(), events.ServiceAddressingChanged{}.EventType(),
		events.ServiceWalledGardenChanged{}.EventType(), events.ServiceRecreationConfirmed{}.EventType(),
		events.ServiceTornDown{}.EventType(), events.ServiceReconcileRequested{}.EventType(),
		events.ServiceApplied{}.EventType(), events.ServiceApplyFailed{}.EventType(),
		events.ServiceDriftDetected{}.EventType(), events.ServiceDriftCleared{}.EventType(),
		events.ServiceRemovalRequested{}.EventType(), events.ServiceRemoved{}.EventType(),
		events.ServiceSubnetLeft{}.EventType(), events.ServiceSubnetsKept{}.EventType(),
		events.ServiceSubnetsRetired{}.EventType(),
		events.RouterWritten{}.EventType(), events.RouterWriteRefused{}.EventType(),
		events.ReconcileFinished{}.EventType(),
		events.DeviceSetupApplied{}.EventType(), events.DeviceSetupDrifted{}.EventType(),
		events.DeviceSetupCleared{}.EventType(), events.DeviceDriftUnchecked{}.EventType(),
		events.DeviceDriftChecked{}.EventType(),
		events.DeviceUnreachable{}.EventType(), events.DeviceRecovered{}.EventType(),
		events.DeviceBootstrapReported{}.EventType(), events.DeviceBootstrapShown{}.EventType(),
		events.DeviceCustomersRead{}.EventType(), events.DeviceCredentialsReplaced{}.EventType(),
		events.DeviceRebootRequested{}.EventType(),
		events.DeviceRebootConfirmed{}.EventType(), events.DeviceRebootFailed{}.EventType(),
	}
}

// SQL of Apply; a position and a run have one row each.
const (
	insertEntrySQL = `insert into {schema}.entries (position, org_id, device_id, service_id, at, kind, summary, facts,
			detail, actor_kind, actor_id)
		values (@position, @org, @device, @service, @at, @kind, @summary, @facts, @detail, @actor_kind, @actor_id)
		on conflict (position) do nothing`
	insertRunSQL = `insert into {schema}.runs (run_id, org_id, device_id, kind, outcome, writes, message, at)
		values (@run, @org, @device, @kind, @outcome, @writes, @message, @at) on conflict (run_id) do nothing`
)

// Apply queues the entry of one event, and the end of a run. The actor of a write to a router is the user who asked for
// it.
func (History) Apply(w *runner.Writes, e events.Envelope) error {
	device, service := subjects(e.Event)
	if device.IsZero() || e.Meta.OrgID.IsZero() {
		return nil
	}
	if v, finished := e.Event.(events.ReconcileFinished); finished {
		w.Exec(insertRunSQL, pgx.NamedArgs{
			"run": v.RunID, "org": v.OrgID, "device": v.DeviceID, "kind": string(v.Kind),
			"outcome": string(v.Outcome), "writes": v.Writes, "message": v.Message, "at": v.At,
		})
	}
	kind, summary := tell(e.Event)
	actor := e.Meta.Actor
	switch v := e.Event.(type) {
	case events.RouterWritten:
		actor = askedBy(v.By, actor)
	case events.RouterWriteRefused:
		actor = askedBy(v.By, actor)
	}
	w.Exec(insertEntrySQL, pgx.NamedArgs{
		"position": int64(e.Position), "org": e.Meta.OrgID, //nolint:gosec // positions fit
		"device": device, "service": service, "at": e.Meta.At, "kind": kind, "summary": summary,
		"facts": factsOf(e.Event), "detail": asJSON(e.Event), "actor_kind": string(actor.Kind), "actor_id": actor.ID,
	})
	return nil
}

// askedBy is the actor who asked for a run, or other when the run does not say.
func askedBy(by, other events.Actor) events.Actor {
	if by.Kind == "" {
		return other
	}
	return by
}

// subjects returns the router and the service that an event concerns; the service is zero for an event about the router
// alone.
func subjects(e events.Event) (device id.Device, service id.Service) {
	var about struct {
		DeviceID  id.Device  `json:"deviceId"`
		ServiceID id.Service `json:"serviceId"`
	}
	_ = json.Unmarshal([]byte(asJSON(e)), &about) // all events of the area use these names
	return about.DeviceID, about.ServiceID
}

// tell describes an event by a kind, stable for programs, and a summary for the staff.
func tell(e events.Event) (kind, summary string) {
	switch v := e.(type) {
	case events.ServiceRequested:
		return "requested", fmt.Sprintf("%s on %s requested", v.Binding.Type, place(v.Binding))
	case events.ServiceAddressingChanged:
		return "changed", "addresses changed to " + v.Addressing.Subnet
	case events.ServiceWalledGardenChanged:
		return "changed", fmt.Sprintf("walled garden changed: %d domains, %d addresses", len(v.WalledGarden.Domains),
			len(v.WalledGarden.Addresses))
	case events.ServiceRecreationConfirmed:
		return "recreation_confirmed",
			fmt.Sprintf("re-creation on %s confirmed, %d sessions affected", place(v.To), v.AffectedSessions)
	case events.ServiceTornDown:
		return "torn_down", "old resources removed from the router"
	case events.ServiceReconcileRequested:
		return "reconcile_requested", "reconcile requested"
	case events.ServiceApplied:
		if v.Repaired {
			return "repaired", "drift repaired: the router was read back and is as desired"
		}
		return "applied", "the router was read back and is as desired"
	case events.ServiceApplyFailed:
		return "failed", fmt.Sprintf("%s %s: %s", v.Operation, v.Path, v.Message)
	case events.ServiceDriftDetected:
		return "drift_detected", fmt.Sprintf("%d resources differ from what was applied", len(v.Resources))
	case events.ServiceDriftCleared:
		return "drift_cleared", "the difference went away without the platform writing"
	case events.ServiceRemovalRequested:
		return "removal_requested", fmt.Sprintf("removal requested, %d sessions affected", v.AffectedSessions)
	case events.ServiceRemoved:
		if v.Abandoned {
			return "removed", "given up without reaching the router: what is left there is an orphan"
		}
		return "removed", "nothing of the service is left on the router"
	}
	return tellFormer(e)
}

// tellFormer is tell for events about former subnets of a service.
func tellFormer(e events.Event) (kind, summary string) {
	switch v := e.(type) {
	case events.ServiceSubnetLeft:
		return "subnet_left", fmt.Sprintf("%s is held until no device has an address of it",
			v.Former.Subnet)
	case events.ServiceSubnetsKept:
		return "subnets_kept", "devices still have addresses of former subnets, which are held"
	case events.ServiceSubnetsRetired:
		return "subnets_retired", "the router has no former subnets any more"
	}
	return tellRouter(e)
}

// tellRouter is tell for events about a router as a whole.
func tellRouter(e events.Event) (kind, summary string) {
	switch v := e.(type) {
	case events.RouterWritten:
		return "written", fmt.Sprintf("%s %s %s", v.Step.Operation, v.Step.Path, v.Step.Name)
	case events.RouterWriteRefused:
		return "write_refused", fmt.Sprintf("%s %s %s: %s", v.Step.Operation, v.Step.Path, v.Step.Name, v.Message)
	case events.ReconcileFinished:
		if v.Message != "" {
			return "reconcile_finished", fmt.Sprintf("%s: %s after %d writes: %s", v.Kind, v.Outcome, v.Writes,
				v.Message)
		}
		return "reconcile_finished", fmt.Sprintf("%s: %s after %d writes", v.Kind, v.Outcome, v.Writes)
	case events.DeviceSetupApplied:
		return "setup_applied", "the setup of the router is as desired"
	case events.DeviceSetupDrifted:
		return "setup_drift_detected", fmt.Sprintf("the setup of the router differs in %d places", len(v.Resources))
	case events.DeviceSetupCleared:
		return "setup_drift_cleared", "the setup of the router no longer differs"
	case events.DeviceDriftUnchecked:
		return "drift_unchecked", "the router could not be compared: " + v.Error
	case events.DeviceDriftChecked:
		return "drift_checked", "the router is compared again"
	case events.DeviceUnreachable:
		return "unreachable", v.Error
	case events.DeviceRecovered:
		return "recovered", "the router answers again"
	case events.DeviceBootstrapReported:
		return "bootstrap_reported", fmt.Sprintf("bootstrap script of version %d is in place", v.Version)
	case events.DeviceCredentialsReplaced:
		if v.Kind == events.CredentialTunnel {
			return "secrets_rotated", "the tunnel has a new password: the router needs the new bootstrap script"
		}
		return "credentials_replaced", fmt.Sprintf("other %s credentials are in use", v.Kind)
	case events.DeviceBootstrapShown:
		return "bootstrap_shown", "the bootstrap script with its secrets was shown"
	case events.DeviceCustomersRead:
		return "customers_read", "the router's own users were read, with their passwords"
	case events.DeviceRebootRequested:
		return "reboot_requested", "reboot requested"
	case events.DeviceRebootConfirmed:
		return "reboot_confirmed", "the router is back: its uptime shows the reboot"
	case events.DeviceRebootFailed:
		return "reboot_failed", v.Message
	}
	return "", ""
}

// place is the interface or VLAN on which a service runs.
func place(b events.ServiceBinding) string {
	if b.VlanID != 0 {
		return fmt.Sprintf("VLAN %d of %s", b.VlanID, b.ParentInterface)
	}
	return b.ParentInterface
}

// HistoryRow is one event in the history; Detail is its whole payload. At is the time of the record, UTC.
type HistoryRow struct {
	Position  int64           `db:"position"`
	DeviceID  id.Device       `db:"device_id"`
	ServiceID id.Service      `db:"service_id"`
	At        time.Time       `db:"at"`
	Kind      string          `db:"kind"`
	Summary   string          `db:"summary"`
	Facts     HistoryFacts    `db:"facts"`
	Detail    json.RawMessage `db:"detail"`
	ActorKind string          `db:"actor_kind"`
	ActorID   string          `db:"actor_id"`
}

// HistoryKey is a row's place in the list, newest first. The zero value starts at the newest row.
type HistoryKey struct {
	Position int64 `json:"p"`
}

// Key makes the next page begin after this row.
func (r HistoryRow) Key() HistoryKey { return HistoryKey{Position: r.Position} }

// HistoryQuery serves the history of an organization's routers and services.
type HistoryQuery struct{ Views *runner.Views }

// historySelect fits HistoryRow; the condition on router or service follows.
const historySelect = `select position, device_id, service_id, at, kind, summary, facts, detail, actor_kind,
	actor_id
	from {schema}.entries where org_id = $1 and position < $2 and `

// OfService returns up to max entries of a service after a key, newest first.
func (q HistoryQuery) OfService(
	ctx context.Context, org id.Organization, service id.Service, after HistoryKey, max int,
) ([]HistoryRow, error) {
	return q.read(ctx, org, `service_id = $3`, service, after, max)
}

// OfDevice returns up to max entries of a router and its services after a key, newest first.
func (q HistoryQuery) OfDevice(
	ctx context.Context, org id.Organization, device id.Device, after HistoryKey, max int,
) ([]HistoryRow, error) {
	return q.read(ctx, org, `device_id = $3`, device, after, max)
}

// read returns one page; subject is a condition on $3, and who its value.
func (q HistoryQuery) read(
	ctx context.Context, org id.Organization, subject string, who any, after HistoryKey, max int,
) ([]HistoryRow, error) {
	before := after.Position
	if before == 0 {
		before = math.MaxInt64
	}
	var rows []HistoryRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[HistoryRow],
			q.Views.SQL(HistoryName, historySelect+subject+` order by position desc limit $4`), org, before, who, max)
	})
	return rows, err
}

// RunRow is the end of one run over a whole router.
type RunRow struct {
	ID      id.Run `db:"run_id"`
	Kind    string `db:"kind"`
	Outcome string `db:"outcome"`
	Writes  int    `db:"writes"`
	Message string `db:"message"` // the router's text when it failed, else ""
}

// Run returns the end of a run of an organization, nil while the run goes on.
func (q HistoryQuery) Run(ctx context.Context, org id.Organization, run id.Run) (*RunRow, error) {
	var row *RunRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[RunRow],
			q.Views.SQL(HistoryName,
				`select run_id, kind, outcome, writes, message from {schema}.runs where run_id = $1`), run)
	})
	return row, err
}
