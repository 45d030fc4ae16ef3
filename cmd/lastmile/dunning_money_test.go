package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// dunningDays sets a default policy without reminders and times without cuts, changed by some fields.
func (k *kit) dunningDays(changed map[string]any) {
	k.t.Helper()
	policy := map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}
	for name, value := range changed {
		policy[name] = value
	}
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": policy})
}

// entitled is the access that a customer may have now.
func (k *kit) entitled(customer string) string {
	k.t.Helper()
	return k.must(k.admin, "GET", "/subscribers/"+customer+"/access", nil).text("entitled")
}

// isWeekend reports a Saturday or Sunday in the zone of the tests' organization.
func isWeekend(t *testing.T, at time.Time) bool {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	day := at.In(zone).Weekday()
	return day == time.Saturday || day == time.Sunday
}

// On a Saturday, when nobody is cut, somebody in the walled garden pays one shilling 65 times.
func TestDunning_ManySmallPaymentsGiveNoAccessBack(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(map[string]any{
		"noCutDays": []string{"saturday", "sunday"}, "walledGardenDays": 60, "writeOffDays": 90,
	})
	customer, account := k.subscriber("254711000801")
	line := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000801", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
	if err != nil {
		t.Fatal(err)
	}
	cut := until.AddDate(0, 0, 8)
	for isWeekend(t, cut) { // nobody is cut then
		cut = cut.AddDate(0, 0, 1)
	}
	k.advance(map[string]any{"to": cut})
	k.dunning(line, events.DunningWalledGarden)
	saturday := cut.AddDate(0, 0, 1)
	for !isWeekend(t, saturday) {
		saturday = saturday.AddDate(0, 0, 1)
	}
	k.advance(map[string]any{"to": saturday})
	for range 65 {
		k.pay("254711000801", account, 1)
	}
	k.eventually("a review of the last payment", func(ctx context.Context) (bool, error) {
		owed := k.dunning(line, events.DunningWalledGarden).Reviewed.Owed.Debts
		return len(owed) == 1 && owed[0].Amount.Minor == 143_500, nil
	})
	if got := k.entitled(customer); got != "walled_garden" {
		t.Errorf("65 shillings of 1500: %s", got)
	}
}

func TestDunning_AWriteOffGivesNoAccessBack(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.dunningDays(map[string]any{"writeOffDays": 15})
	plan := k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "post", "name": "Post", "kind": "pppoe", "price": 1500, "currency": "KES",
		"billing": map[string]string{"mode": "postpaid", "period": "month"},
		"rates":   map[string]any{"down": 10000, "up": 5000},
	}).text("id")
	customer, _ := k.subscriber("254711000701")
	line := k.subscribe(customer, plan)
	k.issued(customer, 1)
	k.advance(map[string]any{"advance": "1h"})
	from := k.app.clock.Now()
	for _, days := range []int{35, 44, 62} { // walled garden, suspended, proposed for a write-off
		k.advance(map[string]any{"to": from.AddDate(0, 0, days)})
		state := map[int]events.DunningState{
			35: events.DunningWalledGarden, 44: events.DunningSuspended, 62: events.DunningWrittenOff,
		}[days]
		k.dunning(line, state)
	}
	k.issued(customer, 3) // the run of the day bills the third month after the proposal, and all of it is given up
	k.must(k.admin, "POST", "/subscribers/"+customer+"/write-off", map[string]any{"reason": "never paid"})
	k.advance(map[string]any{"advance": "2h"}) // the process looks again
	k.dunning(line, events.DunningWrittenOff)
	if got := k.entitled(customer); got != "none" {
		t.Errorf("access %q after a write-off", got)
	}
	k.eventually("a board that asks for nothing more", func(context.Context) (bool, error) {
		row := k.all(k.admin, "/dunning?subscriberId="+customer)[0]
		return row.at("due") != "0" && row.at("writtenOff") == row.at("due"), nil
	})
	k.todayShows(k.admin, map[string]string{"subscriptions.writtenOff": "0"})
}

// The router's own interface is closed; its customers are online and report.
func TestNoFault_WhoReportsHasALine(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(nil)
	amina := k.connect(k.admin, "secret-of-acme", "amina")
	nas := k.tower(k.admin, "secret-of-acme")
	k.pay("254711000077", "amina", 1000)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(amina.subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.redials(nas, amina)
	k.advance(map[string]any{"to": until.Add(time.Hour)})
	state := k.dunning(amina.subscription, events.DunningReminding)
	k.eventually("a session in the grace",
		func(context.Context) (bool, error) { return online(nas, amina) != nil, nil })
	device := id.Must[id.Device](k.must(k.admin, "GET", "/nas/devices", nil).list("data")[0].text("id"))
	_, err = k.app.engines.bus.Execute(t.Context(), commands.MarkDeviceUnreachable{DeviceID: device, Error: "refused"},
		commands.Meta{CommandID: id.New[id.Command](), OrgID: state.Subject.OrgID,
			Actor: events.Actor{Kind: events.ActorProcess}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		k.advance(map[string]any{"advance": "6m"}) // interim reports come
	}
	k.advance(map[string]any{"to": until.AddDate(0, 0, 20)})
	k.dunning(amina.subscription, events.DunningWalledGarden)
	k.eventually("the walled garden", func(context.Context) (bool, error) {
		return k.entitled(amina.subscriber) == "walled_garden", nil
	})
}
