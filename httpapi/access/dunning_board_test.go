package accessapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// inDunning makes a postpaid subscription at Acme that owes 1,500 shillings since a week, and is in the walled garden.
// It gives its id.
func inDunning(t *testing.T, k *isptest.Kit, admin string) string {
	t.Helper()
	sub, _ := amina(t, k, admin)
	return sub
}

// amina makes the subscription of inDunning, and gives its id and that of its subscriber.
func amina(t *testing.T, k *isptest.Kit, admin string) (subscription, subscriber string) {
	t.Helper()
	var plan, person, sub struct{ ID string }
	k.Want(t, 201, "", isptest.Post(admin, "/plans", json.RawMessage(`{"code":"home","name":"Home","kind":"pppoe",
		"price":1500,"currency":"KES","billing":{"mode":"postpaid","period":"month"},
		"rates":{"down":10000,"up":5000}}`))).Into(t, &plan)
	k.Want(t, 201, "", isptest.Post(admin, "/subscribers",
		map[string]string{"firstName": "Amina", "phone": "254711000001"})).Into(t, &person)
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions",
		map[string]string{"subscriberId": person.ID, "planId": plan.ID})).Into(t, &sub)
	p := events.DunningPolicy{MinimumDue: money.Major(50, money.KES), WalledGardenDays: 7, WriteOffDays: 60}
	done := k.Run(t, commands.ReviewDunning{
		Subject: events.DunningSubject{
			SubscriptionID: id.Must[id.Subscription](sub.ID), OrgID: k.Acme,
			SubscriberID: id.Must[id.Subscriber](person.ID),
		},
		Rules: commands.DunningRules{Policy: p, Zone: time.FixedZone("EAT", 3*60*60)},
		Owed: []events.DunningOwed{{At: k.Clock.Now().AddDate(0, -1, 0), Debts: []events.DunningDebt{{
			InvoiceID: id.New[id.Invoice](), DueOn: calendar.Date{Year: 2026, Month: 2, Day: 23},
			Amount: money.Major(1500, money.KES),
		}}}},
	})
	coretest.WaitFor(t, k.Views(), done.Position, accessviews.DunningName)
	return sub.ID, person.ID
}

// row is a row of the board as a client reads it.
type row struct {
	SubscriptionID, SubscriberID string
	State, Since, Currency       string
	Due                          json.Number
	OverdueDays                  int
	Next                         *struct{ State, At string }
	Hold                         *struct{ From, Until, Reason string }
	Stopped                      *struct{ Cause, Since string }
}

// board reads the board with a filter.
func board(t *testing.T, k *isptest.Kit, as, query string) []row {
	t.Helper()
	var page struct{ Data []row }
	k.Want(t, 200, "", isptest.Get(as, "/dunning"+query)).Into(t, &page)
	return page.Data
}

func TestBoard_ShowsWhatIsOverdueAndWhatComesNext(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	if rows := board(t, k, admin, ""); len(rows) != 0 {
		t.Fatalf("an empty board has %v", rows)
	}
	sub := inDunning(t, k, admin)
	rows := board(t, k, admin, "?state=walled_garden")
	if len(rows) != 1 || rows[0].SubscriptionID != sub || rows[0].Due != "1500.00" || rows[0].OverdueDays != 7 ||
		rows[0].Next == nil || rows[0].Next.State != "suspended" || rows[0].Hold != nil || rows[0].Currency != "KES" {
		t.Errorf("board: %+v", rows)
	}
	if rows := board(t, k, admin, "?state=suspended"); len(rows) != 0 {
		t.Errorf("suspended: %+v", rows)
	}
	k.Want(t, 422, "invalid_input", isptest.Get(admin, "/dunning?state=cut"))
	for _, path := range []string{"/subscriptions/" + sub, "/subscriptions"} {
		if a := k.Want(t, 200, "", isptest.Get(admin, path)); !strings.Contains(string(a.Body),
			`"dunning":"walled_garden"`) {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	other := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	a := k.Want(t, 200, "", isptest.At(apitest.Other, isptest.Get(other, "/dunning")))
	if strings.Contains(string(a.Body), sub) {
		t.Errorf("another organization sees %s", a.Body)
	}
}

func TestHold_IsPlacedMovedAndLifted(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	sub := inDunning(t, k, admin)
	k.Clock.Advance(time.Minute) // the walled garden began before the hold
	hold := func(until time.Time, reason string) apitest.Request {
		return isptest.Post(admin, "/subscriptions/"+sub+"/hold", map[string]any{"until": until, "reason": reason})
	}
	until := k.Clock.Now().AddDate(0, 0, 9)
	var placed row
	k.Want(t, 200, "", hold(until, "in hospital")).Into(t, &placed)
	if placed.Hold == nil || placed.Hold.Reason != "in hospital" || placed.State != "walled_garden" {
		t.Errorf("placed: %+v", placed)
	}
	if placed.Next == nil || placed.Next.State != "suspended" || placed.Next.At <= until.Format(time.RFC3339) {
		t.Errorf("the days of the walled garden stand still until %v, and next is %+v", until, placed.Next)
	}
	k.Want(t, 200, "", hold(until.AddDate(0, 0, 1), "longer"))
	k.Want(t, 422, "invalid_input", hold(k.Clock.Now().Add(-time.Second), "late"))
	k.Want(t, 422, "invalid_input", hold(until, ""))
	var refused struct{ Message []string }
	k.Want(t, 422, "invalid_input", isptest.Post(admin, "/subscriptions/"+sub+"/hold",
		map[string]any{"until": "2026-01-10", "reason": "a date alone"})).Into(t, &refused)
	if len(refused.Message) != 1 || !strings.HasPrefix(refused.Message[0], "until must be an instant in RFC 3339") {
		t.Errorf("a date alone: %q", refused.Message)
	}
	gone := apitest.Request{Method: "DELETE", Path: "/subscriptions/" + sub + "/hold", As: admin}
	k.Want(t, 204, "", gone)
	k.Want(t, 204, "", gone)
	if rows := board(t, k, admin, ""); len(rows) != 1 || rows[0].Hold != nil {
		t.Errorf("after the end: %+v", rows)
	}
	other := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	foreign := hold(until, "x")
	foreign.As = other
	k.Want(t, 404, "subscription_not_found", isptest.At(apitest.Other, foreign))
	support := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	gone.As = support
	k.Want(t, 403, "role_required", gone)
}

// TestBoard_OfOneCustomerIsWhatHisAccessSays: the filter of the board and the explanation of his access have the same
// words, amounts and instants, with a hold and without one, and while a fault stops the clock.
func TestBoard_OfOneCustomerIsWhatHisAccessSays(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	sub, who := amina(t, k, admin)
	same := func(when string) row {
		t.Helper()
		rows := board(t, k, admin, "?subscriberId="+who)
		var access struct{ Services []struct{ Dunning *row } }
		k.Want(t, 200, "", isptest.Get(admin, "/subscribers/"+who+"/access")).Into(t, &access)
		if len(rows) != 1 || len(access.Services) != 1 || access.Services[0].Dunning == nil {
			t.Fatalf("%s: %+v, %+v", when, rows, access)
		}
		got := *access.Services[0].Dunning
		got.SubscriptionID, got.SubscriberID = sub, who
		if diff := cmp.Diff(rows[0], got); diff != "" {
			t.Errorf("%s (-board +access):\n%s", when, diff)
		}
		return got
	}
	got := same("in dunning")
	if got.Due != "1500.00" || got.OverdueDays != 7 || got.Hold != nil || got.Stopped != nil {
		t.Errorf("in dunning: %+v", got)
	}
	since := k.Clock.Now().Add(-time.Minute)
	for i, cause := range []string{events.ClockNoPayment + ":7", events.ClockNoLine + ":router:8"} {
		done := k.Run(t, commands.StopClock{
			Subject: events.DunningSubject{
				SubscriptionID: id.Must[id.Subscription](sub), OrgID: k.Acme, SubscriberID: id.Must[id.Subscriber](who),
			},
			Cause: cause, From: since.Add(-time.Duration(i) * time.Minute),
		})
		coretest.WaitFor(t, k.Views(), done.Position, accessviews.DunningName)
		got := same(cause)
		if got.Stopped == nil || !strings.HasPrefix(cause, got.Stopped.Cause+":") {
			t.Errorf("%s: %+v", cause, got.Stopped)
		}
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+sub+"/hold", map[string]any{
		"until": k.Clock.Now().AddDate(0, 0, 9), "reason": "a promise",
	}))
	if got := same("on hold"); got.Hold == nil || got.Hold.Reason != "a promise" {
		t.Errorf("on hold: %+v", got)
	}
	for hold, want := range map[string]int{"true": 1, "false": 0} {
		if rows := board(t, k, admin, "?hold="+hold); len(rows) != want {
			t.Errorf("hold=%s: %+v", hold, rows)
		}
	}
	if rows := board(t, k, admin, "?subscriberId="+id.New[id.Subscriber]().String()); len(rows) != 0 {
		t.Errorf("somebody else has %+v", rows)
	}
	k.Want(t, 422, "invalid_input", isptest.Get(admin, "/dunning?subscriberId=amina"))
}

func TestPreview_SaysWhomAPolicyWouldHaveCut(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	sub := inDunning(t, k, admin)
	ask := func(policy string, from, to time.Time) apitest.Request {
		return isptest.Post(admin, "/settings/dunning/preview", map[string]any{
			"policy": json.RawMessage(policy), "from": from, "to": to,
		})
	}
	now := k.Clock.Now()
	var got struct {
		Subscriptions, WalledGarden, Suspended, Restored int
		Changes                                          []struct {
			SubscriptionID, SubscriberID, From, To string
			Subscriber                             httpapi.SubscriberRef
		}
	}
	k.Want(t, 200, "", ask(`{"graceDays":1}`, now.AddDate(0, -2, 0), now)).Into(t, &got)
	if got.Subscriptions != 1 || got.WalledGarden != 1 || len(got.Changes) != 1 ||
		got.Changes[0].SubscriptionID != sub || got.Changes[0].To != "walled_garden" {
		t.Errorf("one day of grace: %+v", got)
	}
	if of := got.Changes[0]; of.Subscriber.ID.String() != of.SubscriberID || of.Subscriber.Name == nil {
		t.Errorf("whom it would have cut: %+v", of)
	}
	k.Want(t, 200, "", ask(`{"graceDays":30}`, now.AddDate(0, -2, 0), now)).Into(t, &got)
	if got.WalledGarden != 0 || len(got.Changes) != 0 {
		t.Errorf("thirty days of grace: %+v", got)
	}
	k.Want(t, 422, "invalid_input", ask(`{}`, now.AddDate(0, -2, 0), now.Add(time.Minute)))
	k.Want(t, 422, "invalid_input", ask(`{}`, now, now.AddDate(0, 0, -1)))
	k.Want(t, 422, "invalid_input", ask(`{"graceDays":-1}`, now.AddDate(0, -2, 0), now))
}
