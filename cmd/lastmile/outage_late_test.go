package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestOutage_WhoseBeginningComesLateIsNone: the job has waited while nobody saw whether the routers came back. Nor does
// one begin while the program has not heard routers for long, so that they may be silent because it was off.
func TestOutage_WhoseBeginningComesLateIsNone(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	cases := k.app.outageCases()
	org, one, two := k.organizationID("acme"), id.New[id.Device](), id.New[id.Device]()
	begin := func(at time.Time) {
		meta := commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
		}
		err := cases.Detected(t.Context(), commands.BeginDetectedOutage{
			OrgID: org, Root: one, Devices: []id.Device{one, two}, Since: at.Add(-2 * time.Minute), At: at,
		}, meta)
		if err != nil {
			t.Fatal(err)
		}
	}
	begin(k.app.clock.Now())
	k.advance(map[string]any{"advance": "10m"})
	now := k.app.clock.Now().Truncate(time.Microsecond)
	begin(now.Add(-3 * time.Hour))
	begin(now.Add(-time.Minute))
	var list []answer
	k.eventually("an outage", func(ctx context.Context) (bool, error) {
		all, err := k.admin.call(ctx, "GET", "/outages", "", nil)
		list = all.list("data")
		return len(list) > 0, err
	})
	if len(list) != 1 || list[0].text("startedAt") != now.Add(-3*time.Minute).UTC().Format(time.RFC3339Nano) {
		t.Errorf("outages %v, want the one of now", list)
	}
}

// TestOutage_BeginsWhileAnotherOrganizationIsSilent, once routers were heard for ten minutes: as long as none is, and
// until all have had a chance to report again, the program may be cut off.
func TestOutage_BeginsWhileAnotherOrganizationIsSilent(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	org, neighbour, kiosk := k.organizationID("acme"), id.New[id.Organization](), id.New[id.Device]()
	reports := func(of id.Organization, device id.Device) {
		t.Helper()
		_, err := k.app.telemetry.Commit(t.Context(), telemetry.Directory{
			Resolve: func(telemetry.Report) telemetry.Given { return telemetry.Given{} },
			Zone:    func(id.Organization) *time.Location { return time.UTC },
		}, []telemetry.Report{{
			Kind: telemetry.Interim, Org: of, Device: device, Session: "81000001", User: "amina",
			At: k.app.clock.Now(),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	looks := func(devices ...id.Device) {
		t.Helper()
		now := k.app.clock.Now()
		err := k.app.outageCases().Detected(t.Context(), commands.BeginDetectedOutage{
			OrgID: org, Root: devices[0], Devices: devices, Since: now.Add(-10 * time.Minute), At: now,
		}, commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	reports(org, kiosk)
	reports(neighbour, id.New[id.Device]())
	k.advance(map[string]any{"advance": "12m"})
	looks(id.New[id.Device](), id.New[id.Device]()) // nobody is heard
	reports(org, kiosk)
	looks(id.New[id.Device](), id.New[id.Device]()) // the others have not reported yet
	for range 2 {
		k.advance(map[string]any{"advance": "6m"})
		reports(org, kiosk)
	}
	tower := id.New[id.Device]()
	looks(tower, id.New[id.Device]())
	k.eventually("an outage", func(ctx context.Context) (bool, error) {
		all, err := k.admin.call(ctx, "GET", "/outages", "", nil)
		list := all.list("data")
		if len(list) > 1 || len(list) == 1 && list[0].text("deviceId") != tower.String() {
			t.Fatalf("outages %v, want one at %s", list, tower)
		}
		return len(list) == 1, err
	})
}

// TestOutage_ThatSomebodyEndedWhileItsRoutersAreDownBeginsAgain, as another one from that end on: not at once, and not
// twice when the same sight comes again.
func TestOutage_ThatSomebodyEndedWhileItsRoutersAreDownBeginsAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	cases := k.app.outageCases()
	org, one, two, since := k.organizationID("acme"), id.New[id.Device](), id.New[id.Device](), k.app.clock.Now()
	k.advance(map[string]any{"advance": "10m"})
	looks := func() {
		t.Helper()
		err := cases.Detected(t.Context(), commands.BeginDetectedOutage{
			OrgID: org, Root: one, Devices: []id.Device{one, two}, Since: since, At: k.app.clock.Now(),
		}, commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	shown := func(outages int) (list []answer) {
		t.Helper()
		k.eventually(fmt.Sprint("outages: ", outages), func(ctx context.Context) (bool, error) {
			all, err := k.admin.call(ctx, "GET", "/outages", "", nil)
			list = all.list("data")
			return len(list) >= outages, err
		})
		if len(list) != outages {
			t.Fatalf("outages %v, want %d", list, outages)
		}
		return list
	}
	looks()
	first := shown(1)[0].text("id")
	for n := range 2 {
		ended := k.must(k.admin, "POST", "/outages/"+first+"/end", map[string]any{}).text("endedAt")
		looks()
		shown(n + 1)
		k.advance(map[string]any{"advance": "10m"})
		looks()
		looks()
		list := shown(n + 2)
		if list[0].text("state") != "running" || list[0].text("startedAt") != ended {
			t.Errorf("began again: %v, want since %s", list[0], ended)
		}
		first = list[0].text("id")
	}
}

// TestOutage_ARouterWhoseCustomersGoOnReportingIsNone: only the API of a router does not answer, as after a change of
// its firewall, so nobody is without service. When its reports end, too, it is down since the last one.
func TestOutage_ARouterWhoseCustomersGoOnReportingIsNone(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	cases, device := k.app.outageCases(), id.Must[id.Device](tower.device)
	report := func(login int, online time.Duration, status rfc2866.AcctStatusType) {
		t.Helper()
		k.dials(logins[login], told{
			session: fmt.Sprint("810000", login), mac: fmt.Sprint("AA-BB-CC-00-11-2", login), status: status,
			online: online,
		})
	}
	report(0, 0, rfc2866.AcctStatusType_Value_Start)
	report(1, 0, rfc2866.AcctStatusType_Value_Start)
	k.advance(map[string]any{"advance": "1m"})
	since := k.app.clock.Now()
	looks := func(after string) {
		t.Helper()
		k.advance(map[string]any{"advance": after})
		err := cases.Detected(t.Context(), commands.BeginDetectedOutage{
			OrgID: k.organizationID("acme"), Root: device, Devices: []id.Device{device}, Since: since,
			At: k.app.clock.Now(), Downs: events.RouterDowns{{DeviceID: device, From: since}},
		}, commands.Meta{
			CommandID: id.New[id.Command](), OrgID: k.organizationID("acme"),
			Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	k.advance(map[string]any{"advance": "4m"})
	report(0, 5*time.Minute, rfc2866.AcctStatusType_Value_InterimUpdate) // the other one is about to
	k.eventually("the report to be stored", func(ctx context.Context) (bool, error) {
		heard, err := k.app.telemetry.HeardSince(ctx, k.organizationID("acme"),
			map[id.Device]time.Time{device: since}, k.app.clock.Now())
		return len(heard) == 1, err
	})
	for _, after := range []string{"1m", "8m", "1m5s"} { // at the first two it is heard
		looks(after)
	}
	began := k.must(k.admin, "GET", k.outageOf("running", 2), nil).text("startedAt")
	if from, err := time.Parse(time.RFC3339Nano, began); err != nil || from.Sub(since) < 239*time.Second {
		t.Errorf("began %s, its last report came 4 minutes after %s", began, since)
	}
	report(0, 15*time.Minute, rfc2866.AcctStatusType_Value_InterimUpdate)
	k.eventually("one to have service", func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/outages", "", nil)
		return err == nil && list.list("data")[0].at("customers") == "1", err
	})
}
