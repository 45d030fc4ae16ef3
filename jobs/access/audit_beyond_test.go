package accessjobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// shows is a router that shows the same at each look, and has no local logins.
type shows struct {
	accessjobs.Shown

	observed routerplan.Observed
}

// Observe implements accessjobs.Shown.
func (s shows) Observe(context.Context, id.Device) (routerplan.Observed, error) {
	return s.observed, nil
}

// auditor looks at the router of the kit, which shows a session of the customer and three newer ones of other devices,
// which are not reported. own says that the router asks no other RADIUS server.
func (k *kit) auditor(s telemetry.Session, own bool) *accessjobs.Auditor {
	k.t.Helper()
	log := feedtest.New()
	log.Append(events.Metadata{OrgID: k.org}, events.DeviceRegistered{
		DeviceID: k.device, OrgID: k.org, APIRef: id.New[id.Secret](),
	})
	observed := routerplan.Observed{
		Asks: routerplan.Asks{PPP: own}, SignIns: routerplan.SignIns{PPP: true},
		Sessions: []routerplan.ObservedSession{{
			User: s.Username, Key: s.SessionKey, MAC: s.MAC, Address: s.IP.String(), Radius: true, Uptime: time.Hour,
		}},
	}
	observed.Reported.Asks, observed.Reported.SignIns = observed.Asks, observed.SignIns
	for i := range 3 {
		observed.Sessions = append(observed.Sessions, routerplan.ObservedSession{
			User: s.Username, Key: fmt.Sprint(i), MAC: fmt.Sprintf("02:00:00:00:00:%02d", i), Radius: true,
			Uptime: time.Duration(20+i) * time.Minute,
		})
	}
	bus.Register(k.Kit.Bus, access.Differences())
	views := k.views(log, networkviews.Devices{}, accessviews.Differences{})
	return &accessjobs.Auditor{
		Enforcer: k.Enforcer, Shown: shows{observed: observed}, Every: 5 * time.Minute, LostAfter: 15 * time.Minute,
		Devices: networkviews.DevicesQuery{Views: views}, Open: accessviews.DifferencesQuery{Views: views},
	}
}

// TestAuditor_AReportedSessionBeyondTheLimitBesideSilentOnesIsEnded: by the second look, or by the button where another
// server may have let in those that stay. The customer may have three sessions, and enforcement sees one.
func TestAuditor_AReportedSessionBeyondTheLimitBesideSilentOnesIsEnded(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprintf("let in by this platform alone %v", own), func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			s := k.online()
			k.passes(s, time.Hour)
			a := k.auditor(s, own)
			if err := a.AuditRouter(t.Context(), commands.AuditRouter{DeviceID: k.device}, k.cause()); err != nil {
				t.Fatal(err)
			}
			second, err := jobrunner.Waiting[commands.ConfirmAudit](t.Context(), k.Queue)
			if err != nil || len(second) != 1 {
				t.Fatalf("second looks %v, %v", second, err)
			}
			if err := a.ConfirmAudit(t.Context(), second[0].Args, k.cause()); err != nil {
				t.Fatal(err)
			}
			if ended := k.session(s).EndedAt != nil; ended != own {
				t.Errorf("after the second look it has ended: %v", ended)
			}
			if own {
				return
			}
			meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: k.org, Actor: k.cause().Actor}
			outcomes := map[accessjobs.RepairOutcome]int{}
			for _, difference := range second[0].Args.Doubtful {
				done, err := a.Repair(t.Context(), difference, meta)
				t.Logf("%+v, %v", done, err)
				outcomes[done.Outcome]++
			}
			if outcomes[accessjobs.RepairDone] != 1 || k.session(s).EndedAt == nil {
				t.Errorf("repairs %v, session %+v", outcomes, k.session(s))
			}
		})
	}
}

// TestAuditor_ASecondLookThatWaitsDoesNotSwallowAnother: what a look finds while the second look for something else
// waits is looked at a second time, too; what is found again while its second look waits is not.
func TestAuditor_ASecondLookThatWaitsDoesNotSwallowAnother(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.passes(s, time.Hour)
	a := k.auditor(s, false)
	all := a.Shown.(shows).observed
	fewer := all
	fewer.Sessions = all.Sessions[:3]
	for _, look := range []struct {
		observed routerplan.Observed
		waiting  int
	}{{fewer, 1}, {all, 2}, {all, 2}, {fewer, 2}} {
		a.Shown = shows{observed: look.observed}
		if err := a.AuditRouter(t.Context(), commands.AuditRouter{DeviceID: k.device}, k.cause()); err != nil {
			t.Fatal(err)
		}
		second, err := jobrunner.Waiting[commands.ConfirmAudit](t.Context(), k.Queue)
		if err != nil || len(second) != look.waiting {
			t.Fatalf("second looks %+v, want %d, %v", second, look.waiting, err)
		}
	}
}
