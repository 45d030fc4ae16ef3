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
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// reports tells of a session of each customer.
func (k *kit) reports(logins []connection, status rfc2866.AcctStatusType, online time.Duration) {
	k.t.Helper()
	for n, c := range logins {
		k.dials(c, told{
			session: fmt.Sprint("8100000", n), mac: fmt.Sprint("AA-BB-CC-00-11-2", n), status: status, online: online,
		})
	}
}

// allLost waits until every session was closed.
func (k *kit) allLost() {
	k.t.Helper()
	k.eventually("the sessions to be lost", func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/sessions?online=true", "", nil)
		return err == nil && len(list.list("data")) == 0, err
	})
}

// beginsNone has the platform begin no outage by itself.
func (k *kit) beginsNone() {
	k.t.Helper()
	k.must(k.admin, "PUT", "/settings/outages", map[string]any{
		"detect": false, "tell": false, "afterMinutes": 5, "public": true,
	})
}

// previews previews a day for each 24 hours of an outage.
func (k *kit) previews(outage string) answer {
	k.t.Helper()
	return k.must(k.admin, "POST", "/compensations", map[string]any{
		"outageId": outage, "give": "proportional", "reason": "The mast had no power.",
	})
}

// goesAway has a router not answer the platform from now on.
func (k *kit) goesAway(r simRouter) {
	k.t.Helper()
	r.SetFaults(router.Faults{Refuse: true})
	k.executes(commands.MarkDeviceUnreachable{DeviceID: id.Must[id.Device](r.device), Error: "refused"})
}

// TestCompensation_OfAPartOfAnOutageIsThatOfTheWhole, so that nobody loses the rest of the time.
func TestCompensation_OfAPartOfAnOutageIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	k, tower, logins := atOneTower(t, 2)
	k.beginsNone()
	device, part, whole, other := id.Must[id.Device](tower.device), id.New[id.Outage](), id.New[id.Outage](),
		id.New[id.Device]()
	k.reports(logins, rfc2866.AcctStatusType_Value_Start, 0)
	k.advance(map[string]any{"advance": "1m"})
	k.goesAway(tower)
	since := k.app.clock.Now()
	for o, d := range map[id.Outage]id.Device{whole: other, part: device} {
		k.executes(commands.BeginOutage{
			OutageID: o, OrgID: k.organizationID("acme"), Place: events.NetworkPlace{DeviceID: d}, TellAfter: -1,
			Devices: []id.Device{d}, StartedAt: since,
		})
	}
	k.advance(map[string]any{"advance": "5m"})
	k.executes(commands.EndOutage{OutageID: part, EndedAt: k.app.clock.Now(), MergedInto: whole})
	k.executes(commands.ExtendOutage{
		OutageID: whole, Devices: []id.Device{device}, Absorbs: []id.Outage{part},
		Downs: events.RouterDowns{{DeviceID: device, From: since}},
	})
	k.refused(k.admin, "POST /compensations", map[string]any{
		"outageId": part.String(), "give": "proportional", "reason": "Too early.",
	}, 422, "compensation_not_over")
	k.advance(map[string]any{"advance": "71h"})
	k.executes(commands.EndOutage{OutageID: whole})
	one := k.previews(part.String())
	if one.text("outageId") != whole.String() || one.at("days") != "6" {
		t.Errorf("two customers get %s days for 71 hours: %v", one.at("days"), one)
	}
	k.given(one.text("id"))
	if two := k.previews(whole.String()); two.at("days") != "0" {
		t.Errorf("and %s days once more", two.at("days"))
	}
}
