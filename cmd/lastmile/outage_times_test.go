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

// TestOutage_EachRouterHasItsOwnTime: a small router behind a tower is down for days. For the last ten minutes of the
// first 60 hours the tower is down, too. While the small router stays down, nobody behind the tower is without service,
// and what they get for the outage is for ten minutes.
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
	k.executes(commands.NarrowOutage{
		OutageID: outage, Back: []commands.RouterBack{{DeviceID: at, At: now.Add(10 * time.Minute)}},
	})
	online(71*time.Hour + 10*time.Minute)
	k.advance(map[string]any{"advance": "6h"})
	online(77*time.Hour + 10*time.Minute)
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
		t.Errorf("ten minutes without service: %s customers get %s days", gift.at("customers"), gift.at("days"))
	}
	k.given(gift.text("id"))
	k.paidLater(before, 24*time.Hour)
	if again := k.must(k.admin, "POST", "/compensations", give); again.at("days") != "0" {
		t.Errorf("a second time they get %s days", again.at("days"))
	}
	k.refused(k.admin, "POST /compensations", map[string]any{
		"outageId": outage.String(), "from": now.Add(20 * time.Minute), "give": "proportional", "reason": "Later.",
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
