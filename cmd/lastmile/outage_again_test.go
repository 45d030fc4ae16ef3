package main

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestOutage_ThatBeginsAgainHasWhoWasCutOffFirst: hours after its one router went away, and after its sessions were
// closed, somebody ends the outage by mistake.
func TestOutage_ThatBeginsAgainHasWhoWasCutOffFirst(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	k.reports(logins, rfc2866.AcctStatusType_Value_Start, 0)
	k.advance(map[string]any{"advance": "5m"})
	k.reports(logins, rfc2866.AcctStatusType_Value_InterimUpdate, 5*time.Minute)
	k.advance(map[string]any{"advance": "3m"})
	k.reaches(tower, false)
	k.advance(map[string]any{"advance": "10m5s"})
	first := k.outageOf("running", 2)
	k.advance(map[string]any{"advance": "3h"})
	k.allLost()
	ended := k.must(k.admin, "POST", first+"/end", map[string]any{}).text("endedAt")
	k.advance(map[string]any{"advance": "10m5s"})
	again := k.outageOf("running", 2)
	if o := k.must(k.admin, "GET", again, nil); again == first || o.text("startedAt") != ended {
		t.Errorf("began again: %v, want since %s", o, ended)
	}
	k.advance(map[string]any{"advance": "26h"})
	k.must(k.admin, "POST", again+"/end", map[string]any{})
	if got := k.previews(again[len("/outages/"):]); got.at("customers") != "2" || got.at("days") != "4" {
		t.Errorf("%s customers get %s days for 26 hours", got.at("customers"), got.at("days"))
	}
}

// TestOutage_ARouterThatIsHeardComesToNone, as long as its customers report, and is not down in one from then on.
func TestOutage_ARouterThatIsHeardComesToNone(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	k.beginsNone()
	outage, device, other := id.New[id.Outage](), id.Must[id.Device](tower.device), id.New[id.Device]()
	k.executes(commands.BeginOutage{
		OutageID: outage, OrgID: k.organizationID("acme"), Place: events.NetworkPlace{DeviceID: other}, TellAfter: -1,
		Devices: []id.Device{other}, StartedAt: k.app.clock.Now(),
	})
	k.goesAway(tower)
	went := k.app.clock.Now()
	looks := func(downs events.RouterDowns) (after outages.Outage) {
		t.Helper()
		org := k.organizationID("acme")
		err := k.app.outageCases().Watched(t.Context(), commands.WatchOutage{
			OrgID: org, OutageID: outage, Root: device, Downs: downs, At: k.app.clock.Now(),
		}, func(string) commands.Meta {
			return commands.Meta{
				CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
			}
		})
		if err == nil {
			after, _, err = bus.LoadOwned[outages.Outage](t.Context(), k.app.engines.bus, org, outage)
		}
		if err != nil {
			t.Fatal(err)
		}
		return after
	}
	heard := func(online time.Duration) (last time.Time) {
		t.Helper()
		k.reports(logins, rfc2866.AcctStatusType_Value_InterimUpdate, online)
		now := k.app.clock.Now().Add(-time.Minute)
		k.eventually("the report to be stored", func(ctx context.Context) (bool, error) {
			since := map[id.Device]time.Time{device: now}
			heard, err := k.app.telemetry.HeardSince(ctx, k.organizationID("acme"), since, k.app.clock.Now())
			last = heard[device]
			return len(heard) == 1, err
		})
		return last
	}
	down := events.RouterDowns{{DeviceID: device, From: went}}
	k.advance(map[string]any{"advance": "5m"})
	last := heard(5 * time.Minute)
	if o := looks(down); o.IsDown(device) || o.Place.DeviceID != other {
		t.Errorf("it is heard: %+v", o)
	}
	k.advance(map[string]any{"advance": "40m"}) // its sessions are lost by then
	k.allLost()
	silent := looks(down).Downs
	if !cmp.Equal(silent, events.RouterDowns{{DeviceID: device, From: last}}) {
		t.Errorf("down %v, want since %s", silent, last)
	}
	back := heard(45 * time.Minute)
	if o := looks(silent); !cmp.Equal(o.Downs, events.RouterDowns{{DeviceID: device, From: last, To: back}}) {
		t.Errorf("down %v, want until %s", o.Downs, back)
	}
}
