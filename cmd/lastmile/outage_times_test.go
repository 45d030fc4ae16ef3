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
	"github.com/lastmile-isp/lastmile/projections/outages"
)

// TestOutage_EachRouterHasItsOwnTime: a small router behind a tower is down for days. After 60 hours the tower is down,
// too, for some minutes. While the small router stays down, nobody behind the tower is without service, and what they
// get for the outage is for those minutes.
func TestOutage_EachRouterHasItsOwnTime(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 1)
	online := func(since time.Duration) {
		t.Helper()
		k.dials(logins[0], told{
			session: "8100000", mac: "AA-BB-CC-00-11-20", status: rfc2866.AcctStatusType_Value_InterimUpdate,
			online: since,
		})
	}
	k.advance(map[string]any{"advance": "72h"})
	online(71 * time.Hour)
	outage, hill, at := id.New[id.Outage](), id.New[id.Device](), id.Must[id.Device](tower.device)
	k.goesAway(tower)
	now := k.app.clock.Now()
	k.executes(commands.BeginOutage{
		OutageID: outage, OrgID: k.organizationID("acme"), Place: events.NetworkPlace{DeviceID: hill},
		Devices: []id.Device{hill}, StartedAt: now.Add(-60 * time.Hour), TellAfter: -1,
	})
	k.executes(commands.ExtendOutage{
		OutageID: outage, Root: at, Devices: []id.Device{at},
		Downs: events.RouterDowns{{DeviceID: at, From: now}},
	})
	path := "/outages/" + outage.String()
	if o := k.must(k.admin, "GET", path, nil); o.at("customers") != "1" {
		t.Errorf("%s customers have no service while the tower is down", o.at("customers"))
	}
	k.advance(map[string]any{"advance": "10m"})
	k.reaches(tower, true)
	k.advance(map[string]any{"advance": "2m5s"})
	k.eventually("the tower to be back in the outage", func(ctx context.Context) (bool, error) {
		o, err := k.admin.call(ctx, "GET", path, "", nil)
		return o.at("customers") == "0", err
	})
	online(71*time.Hour + 23*time.Minute)
	k.advance(map[string]any{"advance": "6h"})
	online(77*time.Hour + 23*time.Minute)
	if o := k.must(k.admin, "GET", path, nil); o.at("customers") != "0" || len(k.all(k.admin, path+"/customers")) > 0 {
		t.Errorf("%s customers are said to have no service, who are online", o.at("customers"))
	}
	k.executes(commands.EndOutage{OutageID: outage})
	if o := k.must(k.admin, "GET", path, nil); o.at("customers") != "1" || len(k.all(k.admin, path+"/customers")) != 1 {
		t.Errorf("%s customers had no service", o.at("customers"))
	}
	before := k.paidUntils()
	give := map[string]any{"outageId": outage.String(), "give": "proportional", "reason": "The mast had no power."}
	gift := k.must(k.admin, "POST", "/compensations", give)
	if gift.at("customers") != "1" || gift.at("days") != "1" {
		t.Errorf("minutes without service: %s customers get %s days", gift.at("customers"), gift.at("days"))
	}
	k.given(gift.text("id"))
	k.paidLater(before, 24*time.Hour)
	if again := k.must(k.admin, "POST", "/compensations", give); again.at("days") != "0" {
		t.Errorf("a second time they get %s days", again.at("days"))
	}
	k.refused(k.admin, "POST /compensations", map[string]any{
		"outageId": outage.String(), "from": now.Add(time.Hour), "give": "proportional", "reason": "Later.",
	}, 422, "compensation_empty")
}

// TestOutage_WhoWasCutOffBeforeItWasSaidIsHit: a cable is cut at night. Ten minutes and hours later a person says so,
// and names an even later time for what the customers get.
func TestOutage_WhoWasCutOffBeforeItWasSaidIsHit(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	for n, c := range logins {
		k.dials(c, told{
			session: fmt.Sprint("810000", n), mac: fmt.Sprint("AA-BB-CC-00-11-2", n),
			status: rfc2866.AcctStatusType_Value_Start,
		})
	}
	k.advance(map[string]any{"advance": "3h"})
	k.eventually("the sessions to be lost", func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/sessions?online=true", "", nil)
		return err == nil && len(list.list("data")) == 0, err
	})
	outage := k.must(k.admin, "POST", "/outages", map[string]any{"deviceId": tower.device}).text("id")
	if o := k.must(k.admin, "GET", "/outages/"+outage, nil); o.at("customers") != "2" {
		t.Errorf("%s customers have no service", o.at("customers"))
	}
	from := k.app.clock.Now().Add(time.Hour)
	k.advance(map[string]any{"advance": "4h"})
	k.must(k.admin, "POST", "/outages/"+outage+"/end", map[string]any{})
	for _, of := range []string{"outageId", "deviceId"} {
		in := map[string]any{
			of: outage, "from": from, "to": from.Add(time.Hour), "give": "proportional", "reason": "The cable was cut.",
		}
		if of == "deviceId" {
			in[of] = tower.device
		}
		if gift := k.must(k.admin, "POST", "/compensations", in); gift.at("customers") != "2" {
			t.Errorf("by %s %s customers get something", of, gift.at("customers"))
		}
	}
}

// TestOutage_WhoIsNotBackInAShortReturnHasItsLaterTimes: the power of a router is back for three minutes, in which the
// customer does not dial in.
func TestOutage_WhoIsNotBackInAShortReturnHasItsLaterTimes(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 1)
	k.beginsNone()
	k.reports(logins, rfc2866.AcctStatusType_Value_Start, 0)
	k.advance(map[string]any{"advance": "1m"})
	k.goesAway(tower)
	from := k.app.clock.Now()
	k.advance(map[string]any{"advance": "3h"})
	k.allLost()
	outage, device := id.New[id.Outage](), id.Must[id.Device](tower.device)
	k.executes(commands.BeginOutage{
		OutageID: outage, OrgID: k.organizationID("acme"), Place: events.NetworkPlace{DeviceID: device},
		Devices: []id.Device{device}, Detected: true, TellAfter: -1, StartedAt: from, Downs: events.RouterDowns{
			{DeviceID: device, From: from, To: from.Add(2 * time.Hour)},
			{DeviceID: device, From: from.Add(2*time.Hour + 3*time.Minute)},
		},
	})
	k.outageOf("running", 1)
	k.advance(map[string]any{"advance": "69h"})
	k.must(k.admin, "POST", "/outages/"+outage.String()+"/end", map[string]any{})
	k.outageOf("ended", 1)
	if got := k.previews(outage.String()); got.at("days") != "3" {
		t.Errorf("%s customers get %s days for 70 hours", got.at("customers"), got.at("days"))
	}
}

// TestOutage_WhoIsNotBackInAShortReturnIsHitAlsoWhenAnotherOneReportsLater: the power of a router is back for ten
// minutes, in which one of two customers dials in, and reports once more after the router does not answer again.
func TestOutage_WhoIsNotBackInAShortReturnIsHitAlsoWhenAnotherOneReportsLater(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	device, org := id.Must[id.Device](tower.device), k.organizationID("acme")
	k.reports(logins[:1], rfc2866.AcctStatusType_Value_Start, 0)
	k.advance(map[string]any{"advance": "1m"})
	first := k.app.clock.Now()
	k.advance(map[string]any{"advance": "1h"})
	k.allLost()
	dials := func(status rfc2866.AcctStatusType, online time.Duration) {
		t.Helper()
		k.dials(logins[1], told{session: "81000001", mac: "AA-BB-CC-00-11-21", status: status, online: online})
	}
	dials(rfc2866.AcctStatusType_Value_Start, 0)
	k.advance(map[string]any{"advance": "10m"})
	again := k.app.clock.Now()
	k.advance(map[string]any{"advance": "2m"})
	dials(rfc2866.AcctStatusType_Value_InterimUpdate, 12*time.Minute)
	k.eventually("the report to be stored", func(ctx context.Context) (bool, error) {
		heard, err := k.app.telemetry.HeardSince(ctx, org, map[id.Device]time.Time{device: again}, k.app.clock.Now())
		return len(heard) == 1, err
	})
	k.advance(map[string]any{"advance": "10m5s"})
	err := k.app.outageCases().Detected(t.Context(), commands.BeginDetectedOutage{
		OrgID: org, Root: device, Devices: []id.Device{device}, Since: again, At: k.app.clock.Now(),
		Downs: events.RouterDowns{{DeviceID: device, From: again, First: first}},
	}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.outageOf("running", 2)
}

// TestOutage_ThatEndedBeforeARouterWentAwayHasNoneOfItsCustomers: a person ends it later, as of that instant. Whoever
// was told of it hears all the same that it is over.
func TestOutage_ThatEndedBeforeARouterWentAwayHasNoneOfItsCustomers(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	k.beginsNone()
	outage, other := id.New[id.Outage](), id.New[id.Device]()
	k.reports(logins, rfc2866.AcctStatusType_Value_Start, 0)
	k.advance(map[string]any{"advance": "1m"})
	since := k.app.clock.Now()
	k.executes(commands.BeginOutage{
		OutageID: outage, OrgID: k.organizationID("acme"), Place: events.NetworkPlace{DeviceID: other},
		Devices: []id.Device{other}, StartedAt: since,
	})
	k.advance(map[string]any{"advance": "5m"})
	k.goesAway(tower)
	device, at := id.Must[id.Device](tower.device), "/outages/"+outage.String()
	k.executes(commands.ExtendOutage{
		OutageID: outage, Devices: []id.Device{device},
		Downs: events.RouterDowns{{DeviceID: device, From: k.app.clock.Now()}},
	})
	k.outageOf("running", 2)
	k.toldOf(at, 2, 0)
	k.must(k.admin, "POST", at+"/end", map[string]any{"endedAt": since.Add(time.Minute)})
	k.outageOf("ended", 0)
	k.toldOf(at, 2, 2)
}

// executes executes a command about an outage as a process of the organization does.
func (k *kit) executes(c commands.Command) {
	k.t.Helper()
	done, err := k.app.engines.bus.Execute(k.t.Context(), c, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: k.organizationID("acme"),
		Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	})
	if err == nil {
		err = k.app.engines.views.WaitFor(k.t.Context(), outagesviews.OutagesName, done.Position)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}
