package subscribersapi_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// listed is a subscriber as lists show it.
type listed struct {
	ID, FirstName, Status string
	Access, PaidUntil     *string
	Online                *bool
	Services              []struct {
		SubscriptionID, PlanID, PlanName, Username, State, Access, Dunning string
		PaidUntil                                                          *string
		Online                                                             bool
	}
}

// one reads a subscriber.
func (k *ispKit) one(t *testing.T, as, who string) (c listed) {
	t.Helper()
	k.Want(t, 200, "", isptest.Get(as, "/subscribers/"+who)).Into(t, &c)
	return c
}

// TestSubscribers_ListsShowServicesAndAreFilteredByThem: a write is shown in the next list, access follows the clock,
// and another organization sees and counts nothing of it.
func TestSubscribers_ListsShowServicesAndAreFilteredByThem(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	plan, spare := k.Plan(t, admin, "home", "prepaid", "month"), k.Plan(t, admin, "spare", "prepaid", "day")
	brian := k.Register(t, admin, map[string]any{"firstName": "Brian", "phone": "0712345679"})
	amina := k.Register(t, admin, isptest.Amina())
	if c := k.one(t, admin, brian.ID); c.Access != nil || c.Online == nil || *c.Online || len(c.Services) != 0 ||
		c.Services == nil || c.PaidUntil != nil {
		t.Errorf("without a service: %+v", c)
	}
	var line subscribed
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": amina.ID, "planId": plan, "username": "amina", "password": "a login of hers",
	})).Into(t, &line)
	c := k.one(t, admin, amina.ID)
	if len(c.Services) != 1 || *c.Access != "none" || c.Services[0].Username != "amina" ||
		c.Services[0].State != "pending" || c.Services[0].PlanID != plan || c.Services[0].PlanName != "Home 10" ||
		c.Services[0].Dunning != "none" || c.Services[0].SubscriptionID != line.ID {
		t.Errorf("right after it was sold: %+v", c)
	}
	k.pay(t, line)
	until := k.Clock.Now().AddDate(0, 1, 0).UTC()
	paid := func(from, before time.Time) string {
		return "paidAfter=" + from.Format(time.DateOnly) + "&paidBefore=" + before.Format(time.RFC3339)
	}
	k.filters(t, admin, map[string][]string{
		"access=full": {"Amina"}, "access=none": {}, "online=true": {}, "online=false&sort=name": {"Amina", "Brian"},
		"planId=" + plan: {"Amina"}, "planId=" + spare: {}, "state=active": {"Amina"}, "state=paused": {},
		"planId=" + plan + "&state=active": {"Amina"}, "planId=" + plan + "&state=ended": {}, "owes=true": {},
		"owes=false&sort=balance&access=full": {"Amina"}, "sort=paidUntil": {"Amina", "Brian"},
		paid(until, until.Add(time.Second)): {"Amina"}, paid(until, until): {},
		paid(until.AddDate(0, 0, 1), until.AddDate(0, 0, 2)):                                          {},
		"q=am&access=full&online=false&owes=false&tag=vip&state=active&sort=paidUntil&planId=" + plan: {"Amina"},
	})
	for _, bad := range []string{
		"access=some", "online=maybe", "planId=x", "state=new", "owes=1", "paidBefore=soon", "paidAfter=2026-02-30",
		"sort=age", "access=full&access=none",
	} {
		k.Want(t, 422, "invalid_input", isptest.Get(admin, "/subscribers?"+bad))
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscribers/"+amina.ID+"/block", map[string]any{"reason": "x"}))
	k.filters(t, admin, map[string][]string{"access=none": {"Amina"}, "access=full": {}})
	k.Want(t, 200, "", isptest.Post(admin, "/subscribers/"+amina.ID+"/unblock", map[string]any{"reason": "x"}))
	k.Clock.Set(until)
	admin = k.Admin(t)
	k.filters(t, admin, map[string][]string{"access=none": {"Amina"}, "access=full": {}})
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+line.ID+"/end", map[string]any{"reason": "moves"}))
	if c := k.one(t, admin, amina.ID); len(c.Services) != 1 || c.Services[0].State != "ended" || c.PaidUntil != nil {
		t.Errorf("the last one has ended: %+v", c)
	}
	k.filters(t, admin, map[string][]string{"state=ended": {"Amina"}})
	k.counts(t, admin, amina.ID)
}

// counts compares the numbers for the head of the list, of both organizations.
func (k *ispKit) counts(t *testing.T, admin, who string) {
	t.Helper()
	type numbers struct {
		Total, Online, Owing, NewThisMonth int
		ByAccess                           map[string]int
	}
	zero := map[string]int{"full": 0, "throttled": 0, "walled_garden": 0, "none": 0}
	off := map[string]int{"full": 0, "throttled": 0, "walled_garden": 0, "none": 1}
	var got numbers
	k.Want(t, 200, "", isptest.Get(admin, "/reports/customers")).Into(t, &got)
	if diff := cmp.Diff(numbers{Total: 2, ByAccess: off}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	elsewhere := func(path string) apitest.Request {
		r := isptest.Get(olga, path)
		r.Host = apitest.Other
		return r
	}
	got = numbers{}
	k.Want(t, 200, "", elsewhere("/reports/customers")).Into(t, &got)
	if diff := cmp.Diff(numbers{ByAccess: zero}, got); diff != "" {
		t.Errorf("elsewhere (-want +got)\n%s", diff)
	}
	k.Want(t, 404, "subscriber_not_found", elsewhere("/subscribers/"+who))
	var page struct{ Data []listed }
	k.Want(t, 200, "", elsewhere("/subscribers?access=none&sort=name")).Into(t, &page)
	if len(page.Data) != 0 {
		t.Errorf("another organization sees %+v", page.Data)
	}
}

// filters compares the first names that queries find.
func (k *ispKit) filters(t *testing.T, as string, want map[string][]string) {
	t.Helper()
	for query, names := range want {
		if diff := cmp.Diff(names, k.searched(t, as, query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
}
