package networkviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// The ids of the story: two routers of Acme, and three services on the tower.
var (
	acme   = id.Derive[id.Organization]("test", "acme")
	tower  = id.Derive[id.Device]("test", "tower")
	lodge  = id.Derive[id.Device]("test", "lodge")
	homes  = id.Derive[id.Service]("test", "homes")
	guests = id.Derive[id.Service]("test", "guests")
	square = id.Derive[id.Service]("test", "square")
	keys   = id.Derive[id.Secret]("test", "keys")
	run    = id.Derive[id.Run]("test", "run")
)

// began is the first instant of the story.
var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// registered adds a router of Acme to the story.
func registered(d id.Device, name string) events.DeviceRegistered {
	return events.DeviceRegistered{
		DeviceID: d, OrgID: acme,
		Details:       events.DeviceDetails{Name: name, IPAddress: "203.0.113.1", CoAPort: 3799, APIPort: 80},
		TunnelAddress: "10.99.0.9", TunnelUser: "nas-" + name, RadiusRef: keys, TunnelRef: keys, At: began,
	}
}

// requested adds a service on the router tower.
func requested(s id.Service, t events.ServiceType) events.ServiceRequested {
	return events.ServiceRequested{
		ServiceID: s, OrgID: acme, DeviceID: tower, Binding: events.ServiceBinding{Type: t, ParentInterface: "ether4"},
		Addressing: events.ServiceAddressing{
			Subnet: "10.50.0.0/24", Gateway: "10.50.0.1", PoolStart: "10.50.0.2", PoolEnd: "10.50.0.254",
		},
		Generation: 1, At: began,
	}
}

// drifted reports a changed address pool; the hash identifies the difference.
func drifted(s id.Service, hash string) events.ServiceDriftDetected {
	return events.ServiceDriftDetected{
		ServiceID: s, OrgID: acme, DeviceID: tower, FirstSeenAt: began, Hash: hash, At: began,
		Resources: []events.DriftedResource{
			{
				Path: "ip/pool", Kind: "changed", Name: "pool", Expected: map[string]string{"ranges": "a"},
				Actual: map[string]string{"ranges": "b"},
			},
		},
	}
}

// addMoved adds a service that has left subnets: twice, with a return to the first one, and again.
func addMoved(s *projectiontest.Story) {
	moved := func(subnet string, generation int) events.ServiceAddressingChanged {
		return events.ServiceAddressingChanged{
			ServiceID: square, DeviceID: tower, Addressing: events.ServiceAddressing{Subnet: subnet},
			Generation: generation, At: began,
		}
	}
	s.Add("nasservice-square", requested(square, events.ServiceHotspot),
		left("10.50.0.0/24"), moved("10.51.0.0/24", 2),
		events.ServiceSubnetsRetired{ServiceID: square, DeviceID: tower, RunID: run, At: began},
		left("10.51.0.0/24"), moved("10.52.0.0/24", 3), left("10.52.0.0/24"), moved("10.51.0.0/24", 4),
		events.ServiceSubnetsKept{
			ServiceID: square, DeviceID: tower, RunID: run, Until: began.Add(2 * time.Hour), At: began,
		},
		left("10.51.0.0/24"), moved("10.53.0.0/24", 5))
}

// addUpstream puts the lodge behind the tower.
func addUpstream(s *projectiontest.Story) {
	s.Add("topology-acme", events.UpstreamChosen{OrgID: acme, DeviceID: lodge, UpstreamID: tower, At: began})
}

// left says that the service on the square leaves a subnet.
func left(subnet string) events.ServiceSubnetLeft {
	return events.ServiceSubnetLeft{ServiceID: square, DeviceID: tower, At: began, Former: events.FormerSubnet{
		Subnet: subnet, Gateway: "10.51.0.1", Until: began.Add(time.Hour),
	}}
}

// networkStory has two routers with all their events and two services in every state.
func networkStory() *projectiontest.Story {
	s := projectiontest.NewStory(acme, began)
	transport := events.DeviceTransport{Protocol: "rest", Port: 80, Version: "7.16 (stable)", BoardName: "RB5009"}
	corrected := registered(tower, "tower").Details
	corrected.Name = "tower north"
	s.Add("device-tower", registered(tower, "tower"),
		events.DeviceTransportLearned{DeviceID: tower, Transport: transport, At: began},
		events.DeviceCredentialsReplaced{DeviceID: tower, Kind: events.CredentialAPI, Ref: keys, At: began},
		events.DeviceDetailsCorrected{DeviceID: tower, Details: corrected, At: began},
		events.DeviceUnreachable{DeviceID: tower, Error: "no answer", At: began},
		events.DeviceRecovered{DeviceID: tower, At: began},
		events.DeviceBootstrapReported{DeviceID: tower, Version: 2, By: "report", RadiusRef: keys, At: began},
		events.DeviceDriftUnchecked{DeviceID: tower, Error: "too slow", At: began},
		events.DeviceDriftChecked{DeviceID: tower, At: began},
		events.DeviceRebootRequested{DeviceID: tower, RunID: run, At: began},
		events.DeviceRebootStarted{DeviceID: tower, RunID: run, At: began},
		events.DeviceRebootAccepted{DeviceID: tower, RunID: run, At: began},
		events.DeviceRebootConfirmed{DeviceID: tower, RunID: run, UptimeSeconds: 9, At: began})
	moved := registered(lodge, "lodge").Details
	moved.APIPort = 8728
	s.Add("device-lodge", registered(lodge, "lodge"),
		events.DeviceTransportLearned{DeviceID: lodge, Transport: transport, At: began},
		events.DeviceDetailsCorrected{DeviceID: lodge, Details: moved, At: began},
		events.DeviceRebootRequested{DeviceID: lodge, RunID: run, At: began},
		events.DeviceDriftUnchecked{DeviceID: lodge, Error: "too slow", At: began},
		events.DeviceRebootFailed{DeviceID: lodge, RunID: run, Message: "not enough permissions (9)", At: began},
		events.DeviceUnreachable{DeviceID: lodge, Error: "gone", At: began},
		events.DeviceDecommissioned{DeviceID: lodge, OrgID: acme, At: began})
	addServices(s)
	s.Add("device-tower", events.DeviceBootstrapShown{DeviceID: tower, Version: 2, At: began},
		events.DeviceCustomersRead{DeviceID: tower, ProposalID: id.As[id.Proposal](tower), At: began})
	return s
}

// addServices adds the services, a run over the router, and a write of that run.
func addServices(s *projectiontest.Story) {
	s.Add("nasservice-homes", requested(homes, events.ServicePPPoE),
		events.ServiceApplyFailed{
			ServiceID: homes, DeviceID: tower, RunID: run, Phase: events.PhaseApply, Path: "ip/pool", Operation: "add",
			Message: "failure: x", Refused: true, Generation: 1, At: began,
		},
		events.ServiceReconcileRequested{
			ServiceID: homes, DeviceID: tower, RunID: run, Phase: events.PhaseApply, Generation: 1, At: began,
		},
		events.ServiceApplied{ServiceID: homes, DeviceID: tower, RunID: run, Generation: 1, At: began},
		drifted(homes, "one"), drifted(homes, "two"))
	s.Add("reconcile-run",
		events.ReconcileStarted{
			RunID: run, OrgID: acme, DeviceID: tower, ServiceID: homes, Kind: events.ReconcileApply, At: began,
		},
		events.RouterWritten{
			RunID: run, OrgID: acme, DeviceID: tower, ServiceID: homes, Seq: 1,
			Step: events.RouterStep{
				Path: "ip/pool", Operation: "add", Name: "pool", After: map[string]string{"ranges": "a"},
			},
			By: events.Actor{Kind: events.ActorUser, ID: "jane"}, At: began,
		},
		events.ReconcileFinished{
			RunID: run, OrgID: acme, DeviceID: tower, ServiceID: homes, Kind: events.ReconcileApply, Writes: 1,
			Outcome: events.ReconcileDone, At: began,
		})
	addMoved(s)
	addUpstream(s)
	s.Add("nasservice-guests", requested(guests, events.ServiceHotspot),
		events.ServiceApplied{ServiceID: guests, DeviceID: tower, RunID: run, Generation: 1, At: began},
		drifted(guests, "one"),
		events.ServiceDriftCleared{ServiceID: guests, DeviceID: tower, At: began},
		events.ServiceRecreationConfirmed{
			ServiceID: guests, DeviceID: tower,
			To:         events.ServiceBinding{Type: events.ServiceHotspot, ParentInterface: "ether5", VlanID: 7},
			Addressing: requested(guests, "").Addressing, AffectedSessions: 3, Generation: 2, At: began,
		},
		events.ServiceTornDown{ServiceID: guests, DeviceID: tower, RunID: run, Generation: 2, At: began},
		events.ServiceRemovalRequested{ServiceID: guests, DeviceID: tower, Generation: 3, At: began},
		events.ServiceRemoved{ServiceID: guests, OrgID: acme, DeviceID: tower, RunID: run, At: began})
}

func TestDevices_Story(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, networkviews.Devices{}, networkStory())
}

func TestServices_Story(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, networkviews.Services{}, networkStory())
}

func TestHistory_Story(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, networkviews.History{}, networkStory())
}
