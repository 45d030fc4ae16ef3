package network

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Services defines the services on routers: one stream for each. A removed service answers service_not_found.
func Services() aggregates.Definition[Service, commands.ServiceCommand, events.ServiceEvent] {
	return aggregates.Definition[Service, commands.ServiceCommand, events.ServiceEvent]{
		Category: commands.ServiceCategory, Missing: commands.ErrNoService, Evolve: evolveService,
		Decide: decideService,
		Owner:  ownerService, Gone: func(s Service) bool { return s.Removed }, Close: closeService,
		Commands: []commands.ServiceCommand{
			commands.RequestService{}, commands.ChangeNasService{}, commands.ConfirmNasServiceChange{},
			commands.ReconcileService{}, commands.RequestRemoval{}, commands.ReportApplied{}, commands.ReportTornDown{},
			commands.ReportServiceFailure{}, commands.ReportDrift{}, commands.ReportRemoved{},
			commands.ReportFormerSubnets{},
		},
	}
}

// Standing is the state of a service as clients see it. Source: docs/rules/network.md#service-states.
type Standing string

// The standings. A removal in progress is no standing: the service keeps its standing until it is removed
// (docs/rules/network.md#service-states).
const (
	StandingPending  Standing = "pending"
	StandingActive   Standing = "active"
	StandingFailed   Standing = "failed"
	StandingDegraded Standing = "degraded"
)

// Service is one service on a router. The zero value is "does not exist".
type Service struct {
	ID           id.Service
	Org          id.Organization
	Device       id.Device
	Binding      events.ServiceBinding
	Addressing   events.ServiceAddressing
	WalledGarden events.WalledGarden
	Standing     Standing
	Generation   int // 1 for the first desired state, one more for each change
	// phase of the unfinished work: events.PhaseApply, PhaseTeardown or PhaseRemoval; "" = none
	Open       string
	Asked      bool                  // the work waits for a report of the worker; false after the router refused
	DriftHash  string                // of the latest difference found; "" = in sync
	DriftSince time.Time             // first time of the present difference, UTC
	Former     []events.FormerSubnet // still on the router, oldest first; nil = none
	Removed    bool
}

// ownerService: a service belongs to the organization of its router for ever.
func ownerService(s Service) id.Organization { return s.Org }

// Removing reports whether a removal was requested and is not finished.
func (s Service) Removing() bool { return s.Open == events.PhaseRemoval && !s.Removed }

// evolveService applies one recorded event.
func evolveService(s Service, e events.ServiceEvent) Service {
	s = evolveFormer(s, e)
	switch e := e.(type) {
	case events.ServiceRequested:
		return Service{
			ID: e.ServiceID, Org: e.OrgID, Device: e.DeviceID, Binding: e.Binding, Addressing: e.Addressing,
			WalledGarden: e.WalledGarden, Standing: StandingPending, Generation: e.Generation, Open: events.PhaseApply,
			Asked: true,
		}
	case events.ServiceAddressingChanged:
		s.Addressing = e.Addressing
		return s.asking(e.Generation)
	case events.ServiceWalledGardenChanged:
		s.WalledGarden = e.WalledGarden
		return s.asking(e.Generation)
	case events.ServiceRecreationConfirmed:
		s.Binding, s.Addressing, s.WalledGarden = e.To, e.Addressing, e.WalledGarden
		s.Standing, s.Generation, s.Open, s.Asked = StandingPending, e.Generation, events.PhaseTeardown, true
		s.DriftHash, s.DriftSince = "", time.Time{}
	case events.ServiceTornDown:
		s.Open, s.Asked = events.PhaseApply, true
	case events.ServiceReconcileRequested:
		s.Open, s.Asked = e.Phase, true
	case events.ServiceApplied:
		s.Standing, s.Open, s.Asked, s.DriftHash, s.DriftSince = StandingActive, "", false, "", time.Time{}
	case events.ServiceApplyFailed:
		if e.Refused {
			s.Standing, s.Asked = StandingFailed, false
		}
	case events.ServiceDriftDetected:
		s.Standing, s.DriftHash, s.DriftSince = StandingDegraded, e.Hash, e.FirstSeenAt
	case events.ServiceDriftCleared: // stays degraded: only a reconcile makes it active again
		s.DriftHash, s.DriftSince = "", time.Time{}
	case events.ServiceRemovalRequested:
		s.Generation, s.Open, s.Asked = e.Generation, events.PhaseRemoval, true
	case events.ServiceRemoved:
		s.Removed, s.Open, s.Asked = true, "", false
	case events.ServiceSubnetLeft, events.ServiceSubnetsKept, events.ServiceSubnetsRetired: // evolveFormer
	case events.ServicePeriodClosed:
		return aggregates.Opened[Service](e.Opening)
	}
	return s
}

// asking returns the service with a new desired state to apply. An unfinished tear-down stays the open phase, because
// it must end first.
func (s Service) asking(generation int) Service {
	s.Generation, s.Asked = generation, true
	if s.Open == "" {
		s.Open = events.PhaseApply
	}
	return s
}

// closeService passes the whole state on.
func closeService(s Service) events.ServiceEvent {
	return events.ServicePeriodClosed{ServiceID: s.ID, Opening: aggregates.Opening(s)}
}

// decideService dispatches. A removed service exists only for a repeated ReportRemoved, which gives no event.
func decideService(s Service, c commands.ServiceCommand, now time.Time) ([]events.ServiceEvent, error) {
	if request, ok := c.(commands.RequestService); ok {
		return decideRequestService(s, request, now)
	}
	_, removed := c.(commands.ReportRemoved)
	if s.ID.IsZero() || s.Removed && !removed {
		return nil, commands.ErrNoService()
	}
	switch c := c.(type) {
	case commands.RequestService:
	case commands.ChangeNasService:
		return decideChangeService(s, c, false, now)
	case commands.ConfirmNasServiceChange:
		return decideChangeService(s, commands.ChangeNasService(c), true, now)
	case commands.ReconcileService:
		return decideReconcileService(s, c, now)
	case commands.RequestRemoval:
		return decideRequestRemoval(s, c, now)
	case commands.ReportApplied:
		return decideReportApplied(s, c, now)
	case commands.ReportTornDown:
		return decideReportTornDown(s, c, now)
	case commands.ReportServiceFailure:
		return decideReportFailure(s, c, now)
	case commands.ReportDrift:
		return decideReportDrift(s, c, now)
	case commands.ReportRemoved:
		return decideReportRemoved(s, c, now)
	case commands.ReportFormerSubnets:
		return decideReportFormer(s, c, now)
	}
	return nil, nil
}

// decideRequestService creates a service whose first desired state must be applied to the router.
func decideRequestService(s Service, c commands.RequestService, now time.Time) ([]events.ServiceEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("service_exists", "This service exists already.")
	}
	return only[events.ServiceEvent](events.ServiceRequested{
		ServiceID: c.ServiceID, OrgID: c.OrgID, DeviceID: c.DeviceID, Binding: c.Binding, Addressing: c.Addressing,
		WalledGarden: c.WalledGarden, Generation: 1, At: now,
	})
}

// Disruptive reports whether a change of binding disconnects customers. Every change of type, interface or VLAN does.
func Disruptive(from, to events.ServiceBinding) bool { return from != to }

// decideChangeService adopts a new desired state. A change that disconnects customers must be confirmed, also when no
// session is up now.
func decideChangeService(
	s Service, c commands.ChangeNasService, confirmed bool, now time.Time,
) ([]events.ServiceEvent, error) {
	garden := sameGarden(s.WalledGarden, c.WalledGarden)
	switch {
	case s.Removing():
		return nil, failure.NewConflict("service_removing", "This service is being removed and cannot be changed.")
	case Disruptive(s.Binding, c.Binding) && !confirmed:
		return nil, commands.ErrConfirmationRequired(c.AffectedSessions)
	case Disruptive(s.Binding, c.Binding):
		return only[events.ServiceEvent](events.ServiceRecreationConfirmed{
			ServiceID: s.ID, DeviceID: s.Device, From: s.Binding, To: c.Binding, Addressing: c.Addressing,
			WalledGarden: c.WalledGarden, AffectedSessions: c.AffectedSessions, Generation: s.Generation + 1, At: now,
		})
	}
	var made []events.ServiceEvent
	generation := s.Generation
	if s.Addressing != c.Addressing {
		generation++
		made = append(s.leaving(c.Addressing, now), events.ServiceAddressingChanged{
			ServiceID: s.ID, DeviceID: s.Device, Addressing: c.Addressing, Generation: generation, At: now,
		})
	}
	if !garden {
		generation++
		made = append(made, events.ServiceWalledGardenChanged{
			ServiceID: s.ID, DeviceID: s.Device, WalledGarden: c.WalledGarden, Generation: generation, At: now,
		})
	}
	return made, nil
}

// sameGarden compares entry by entry; commands have them sorted.
func sameGarden(a, b events.WalledGarden) bool {
	return slices.Equal(a.Domains, b.Domains) && slices.Equal(a.Addresses, b.Addresses)
}

// decideReconcileService asks for the unfinished phase again, or for another apply when nothing is open.
func decideReconcileService(s Service, c commands.ReconcileService, now time.Time) ([]events.ServiceEvent, error) {
	phase := s.Open
	if phase == "" {
		phase = events.PhaseApply
	}
	return only[events.ServiceEvent](events.ServiceReconcileRequested{
		ServiceID: s.ID, DeviceID: s.Device, RunID: c.RunID, Phase: phase, Generation: s.Generation, At: now,
	})
}

// decideRequestRemoval starts the removal. It must be confirmed while sessions are up. A request after a refusal by the
// router asks again.
func decideRequestRemoval(s Service, c commands.RequestRemoval, now time.Time) ([]events.ServiceEvent, error) {
	switch {
	case s.Removing() && s.Asked:
		return nil, nil
	case c.AffectedSessions > 0 && !c.Confirmed && !s.Removing():
		return nil, commands.ErrConfirmationRequired(c.AffectedSessions)
	}
	return only[events.ServiceEvent](events.ServiceRemovalRequested{
		ServiceID: s.ID, DeviceID: s.Device, AffectedSessions: c.AffectedSessions, Generation: s.Generation + 1,
		At: now,
	})
}

// decideReportApplied makes the service active. A report for an older desired state gives no event, and neither does
// one for a service that is active already.
func decideReportApplied(s Service, c commands.ReportApplied, now time.Time) ([]events.ServiceEvent, error) {
	switch {
	case c.Generation != s.Generation, s.Open != "" && s.Open != events.PhaseApply:
		return nil, nil
	case s.Standing == StandingActive && s.Open == "":
		return nil, nil
	}
	return only[events.ServiceEvent](events.ServiceApplied{
		ServiceID: s.ID, DeviceID: s.Device, RunID: c.RunID, Generation: s.Generation, Repaired: s.DriftHash != "",
		At: now,
	})
}

// decideReportTornDown lets the new resources be created. A report for an older desired state gives no event, because
// later writes may have put resources on the router again.
func decideReportTornDown(s Service, c commands.ReportTornDown, now time.Time) ([]events.ServiceEvent, error) {
	if s.Open != events.PhaseTeardown || c.Generation != s.Generation {
		return nil, nil
	}
	return only[events.ServiceEvent](events.ServiceTornDown{
		ServiceID: s.ID, DeviceID: s.Device, RunID: c.RunID, Generation: s.Generation, At: now,
	})
}

// decideReportFailure records the router's error text. A report for finished work or for an older desired state gives
// no event.
func decideReportFailure(s Service, c commands.ReportServiceFailure, now time.Time) ([]events.ServiceEvent, error) {
	if c.Phase != s.Open || c.Generation != s.Generation {
		return nil, nil
	}
	return only[events.ServiceEvent](events.ServiceApplyFailed{
		ServiceID: s.ID, DeviceID: s.Device, RunID: c.RunID, Phase: c.Phase, Path: c.Path, Operation: c.Operation,
		Message: c.Message, Refused: c.Refused, Generation: s.Generation, At: now,
	})
}

// decideReportDrift records a difference once for each hash, and its end. The service stays degraded until an
// operator's reconcile, also when the difference disappears by itself (docs/rules/network.md#service-states). A report
// is ignored while the service has unfinished work or is not active or degraded.
func decideReportDrift(s Service, c commands.ReportDrift, now time.Time) ([]events.ServiceEvent, error) {
	watched := s.Open == "" && (s.Standing == StandingActive || s.Standing == StandingDegraded)
	switch {
	case !watched || c.Generation != s.Generation:
		return nil, nil
	case len(c.Resources) == 0 && s.DriftHash != "":
		return only[events.ServiceEvent](events.ServiceDriftCleared{ServiceID: s.ID, DeviceID: s.Device, At: now})
	case len(c.Resources) == 0 || c.Hash == s.DriftHash:
		return nil, nil
	}
	since := s.DriftSince
	if since.IsZero() {
		since = now
	}
	return only[events.ServiceEvent](events.ServiceDriftDetected{
		ServiceID: s.ID, OrgID: s.Org, DeviceID: s.Device, FirstSeenAt: since, Hash: c.Hash, Resources: c.Resources,
		At: now,
	})
}

// decideReportRemoved ends the service; only a requested removal can end.
func decideReportRemoved(s Service, c commands.ReportRemoved, now time.Time) ([]events.ServiceEvent, error) {
	switch {
	case s.Removed:
		return nil, nil
	case !s.Removing():
		return nil, failure.NewConflict("removal_not_requested", "The removal of this service was not requested.")
	}
	return only[events.ServiceEvent](events.ServiceRemoved{
		ServiceID: s.ID, OrgID: s.Org, DeviceID: s.Device, RunID: c.RunID, Abandoned: c.Abandoned, At: now,
	})
}
