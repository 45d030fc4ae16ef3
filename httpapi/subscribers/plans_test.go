package subscribersapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// subscribed has the fields of a subscription that the tests compare.
type subscribed struct {
	ID, SubscriberID, PlanID, State, Access, Dunning, Reason string
	PlanVersion                                              int
	Username, PaidUntil, OpenInvoiceID, ActivatedAt          *string
	StartsAt                                                 time.Time
	Price                                                    json.Number
}

// subscribe gives a subscriber of Acme a plan; more has further fields of the body.
func (k *ispKit) subscribe(t *testing.T, as, subscriber, plan string, more map[string]any) subscribed {
	t.Helper()
	body := map[string]any{"subscriberId": subscriber, "planId": plan}
	for name, value := range more {
		body[name] = value
	}
	var s subscribed
	k.Want(t, 201, "", isptest.Post(as, "/subscriptions", body)).Into(t, &s)
	return s
}

func TestPlans_AChangeIsAVersionAndSubscriptionsKeepTheirs(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	plan := k.Plan(t, admin, "home-10", "prepaid", "month")
	s := k.subscribe(t, admin, k.Register(t, admin, isptest.Amina()).ID, plan, nil)
	var p struct {
		Version  int
		Name     string
		Price    json.Number
		Archived bool
		Rates    struct{ Down, Up int }
	}
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+plan, map[string]any{"price": 1800})).Into(t, &p)
	if p.Version != 2 || p.Price != "1800.00" || p.Name != "Home 10" || p.Rates.Down != 10000 {
		t.Errorf("%+v", p)
	}
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+plan, map[string]any{"price": 1800})).Into(t, &p)
	if p.Version != 2 {
		t.Errorf("the same terms made version %d", p.Version)
	}
	k.Want(t, 200, "", isptest.Get(admin, "/subscriptions/"+s.ID)).Into(t, &s)
	if s.PlanVersion != 1 || s.Price != "1500.50" {
		t.Errorf("subscription %+v", s)
	}
	k.Want(t, 409, "plan_code_taken", isptest.Post(admin, "/plans", isptest.PlanBody("home-10", "prepaid", "day")))
	k.Want(t, 200, "", isptest.Post(admin, "/plans/"+plan+"/archive", nil)).Into(t, &p)
	if !p.Archived {
		t.Error("not archived")
	}
	k.Want(t, 200, "", isptest.Post(admin, "/plans/"+plan+"/archive", map[string]string{"reason": "old"}))
	k.Want(t, 409, "plan_archived", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": s.SubscriberID, "planId": plan,
	}))
	k.Want(t, 409, "plan_archived", isptest.Patch(admin, "/plans/"+plan, map[string]any{"price": 1}))
}

// TestPlans_CountTheCustomersOfEachVersion: a customer with two subscriptions of a version counts once, one that has
// ended does not, and other organizations count their own alone.
func TestPlans_CountTheCustomersOfEachVersion(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	plan := k.Plan(t, admin, "home-10", "prepaid", "month")
	amina := k.Register(t, admin, isptest.Amina()).ID
	k.subscribe(t, admin, amina, plan, nil)
	k.subscribe(t, admin, amina, plan, nil)
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+plan, map[string]any{"price": 1800}))
	ended := k.subscribe(t, admin, amina, plan, nil)
	type version struct{ Version, Customers int }
	type counted struct {
		ID       string
		Versions []version
	}
	expect := func(want ...version) {
		t.Helper()
		var one counted
		k.Want(t, 200, "", isptest.Get(admin, "/plans/"+plan)).Into(t, &one)
		var page struct{ Data []counted }
		k.Want(t, 200, "", isptest.Get(admin, "/plans?archived=false")).Into(t, &page)
		if !slices.Equal(one.Versions, want) || len(page.Data) != 1 || !slices.Equal(page.Data[0].Versions, want) {
			t.Errorf("%+v and %+v, want %v", one, page.Data, want)
		}
	}
	expect(version{2, 1}, version{1, 1})
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+ended.ID+"/end", map[string]any{"reason": "moved"}))
	expect(version{1, 1})
	var page struct{ Data []counted }
	k.Want(t, 200, "", isptest.Get(admin, "/plans?archived=true")).Into(t, &page)
	if len(page.Data) != 0 {
		t.Errorf("archived: %+v", page.Data)
	}
	k.Want(t, 422, "invalid_input", isptest.Get(admin, "/plans?archived=perhaps"))
	others, err := subscribersviews.SubscriptionsQuery{Views: k.Views()}.CustomersByVersion(t.Context(),
		id.New[id.Organization](), []id.Plan{id.Must[id.Plan](plan)})
	if err != nil || len(others) != 0 {
		t.Errorf("another organization counts %v, %v", others, err)
	}
}

func TestPlans_Form(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	for field, value := range map[string]any{
		"price": json.Number("1.005"), "currency": "USD", "kind": "dsl", "code": "a b", "name": "",
		"billing": map[string]any{"mode": "prepaid", "period": "decade"}, "rates": map[string]any{"down": 0, "up": 1},
	} {
		body := isptest.PlanBody("x", "prepaid", "month")
		body[field] = value
		if a := k.Do(t, isptest.Post(admin, "/plans", body)); a.Status != 422 ||
			!strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	for _, price := range []string{"-1", "1e30", `"5"`} {
		body := isptest.PlanBody("x", "prepaid", "month")
		body["price"] = json.RawMessage(price)
		if a := k.Do(t, isptest.Post(admin, "/plans", body)); a.Status != 422 {
			t.Errorf("price %s: %d %s", price, a.Status, a.Body)
		}
	}
	k.Want(t, 404, "plan_not_found", isptest.Get(admin, "/plans/"+id.New[id.Plan]().String()))
}

func TestSubscriptions_PrepaidWaitsForItsMoney(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	if s.State != "pending" || s.Access != "none" || s.Dunning != "none" || s.PaidUntil != nil ||
		s.OpenInvoiceID == nil || *s.Username != c.AccountNumber {
		t.Fatalf("%+v", s)
	}
	k.Want(t, 409, "subscription_not_active",
		isptest.Post(admin, "/subscriptions/"+s.ID+"/pause", map[string]string{"reason": "x"}))
	k.pay(t, s)
	k.Want(t, 200, "", isptest.Get(admin, "/subscriptions/"+s.ID)).Into(t, &s)
	if s.State != "active" || s.Access != "full" || *s.PaidUntil != "2026-04-02T09:00:00Z" || s.OpenInvoiceID != nil {
		t.Errorf("%+v", s)
	}
}

func TestSubscriptions_PostpaidStartsAtOnceOrOnItsDay(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	plan := k.Plan(t, admin, "p", "postpaid", "month")
	now := k.subscribe(t, admin, c.ID, plan, map[string]any{"startDate": "2026-03-02"})
	if now.State != "active" || now.Access != "full" || now.OpenInvoiceID == nil || !now.StartsAt.Equal(k.Clock.Now()) {
		t.Errorf("%+v", now)
	}
	later := k.subscribe(t, admin, c.ID, plan, map[string]any{"startDate": "2026-03-05"})
	if later.State != "pending" || later.Access != "none" || later.OpenInvoiceID != nil ||
		!later.StartsAt.Equal(time.Date(2026, 3, 4, 21, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", later)
	}
	if *later.Username != c.AccountNumber+"-2" {
		t.Errorf("second name %s", *later.Username)
	}
}

func TestSubscriptions_PauseResumeEnd(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "p", "prepaid", "month")
	s := k.subscribe(t, admin, c.ID, plan, map[string]any{"username": "amina"})
	k.pay(t, s)
	act := func(action string) (out subscribed) {
		t.Helper()
		k.Want(t, 200, "", isptest.Post(k.Admin(t), "/subscriptions/"+s.ID+"/"+action,
			map[string]string{"reason": "why"})).Into(t, &out)
		return out
	}
	k.Want(t, 409, "username_taken", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": c.ID, "planId": plan, "username": "amina",
	}))
	if got := act("pause"); got.State != "paused" || got.Access != "none" || got.Reason != "why" {
		t.Errorf("%+v", got)
	}
	k.Clock.Advance(10 * 24 * time.Hour)
	if got := act("resume"); got.State != "active" || *got.PaidUntil != "2026-04-12T09:00:00Z" {
		t.Errorf("%+v", got)
	}
	if got := act("end"); got.State != "ended" || got.Access != "none" {
		t.Errorf("%+v", got)
	}
	admin = k.Admin(t)
	k.Want(t, 409, "subscription_not_paused",
		isptest.Post(admin, "/subscriptions/"+s.ID+"/resume", map[string]string{"reason": "x"}))
	k.subscribe(t, admin, c.ID, plan, map[string]any{"username": "amina"}) // the username is free again
	var page struct{ Data []subscribed }
	k.Want(t, 200, "", isptest.Get(admin, "/subscriptions?state=ended&subscriberId="+c.ID)).Into(t, &page)
	if len(page.Data) != 1 || page.Data[0].ID != s.ID {
		t.Errorf("%+v", page)
	}
}

func TestSubscriptions_Form(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "p", "prepaid", "month")
	for field, value := range map[string]any{
		"startDate": "2026-03-01", "username": "a\u200bb", "password": "a\u0007b", "planId": "x",
	} {
		body := map[string]any{"subscriberId": c.ID, "planId": plan, field: value}
		if a := k.Do(t, isptest.Post(admin, "/subscriptions", body)); a.Status != 422 ||
			!strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	k.Want(t, 404, "subscriber_not_found", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": id.New[id.Subscriber](), "planId": plan,
	}))
	k.Want(t, 422, "invalid_input", isptest.Get(admin, "/subscriptions?state=gone"))
	for _, action := range []string{"pause", "resume", "end"} {
		k.Want(t, 404, "subscription_not_found",
			isptest.Post(admin, "/subscriptions/"+id.New[id.Subscription]().String()+"/"+action,
				map[string]string{"reason": "x"}))
	}
}

func TestSubscriptions_RepeatWithAKeyKeepsTheFirstPassword(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "p", "prepaid", "month")
	r := isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": c.ID, "planId": plan, "password": "net work",
	})
	r.Header = map[string]string{"Idempotency-Key": "k1"}
	first, second := k.Want(t, 201, "", r), k.Want(t, 201, "", r)
	if string(first.Body) != string(second.Body) || strings.Contains(string(first.Body), "net work") ||
		strings.Contains(k.Log.String(), "net work") {
		t.Errorf("%s, then %s", first.Body, second.Body)
	}
	var s subscribed
	first.Into(t, &s)
	kept, err := k.Vault.Secrets.Get(t.Context(), id.Derive[id.Secret]("network_password", s.ID))
	if err != nil || string(kept) != "net work" {
		t.Errorf("kept %q, %v", kept, err)
	}
	var page struct{ Data []subscribed }
	k.Want(t, 200, "", apitest.Request{Path: "/subscriptions", As: admin}).Into(t, &page)
	if len(page.Data) != 1 {
		t.Errorf("%d subscriptions", len(page.Data))
	}
}

func TestPlans_EveryFaultIsToldOnceAndAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	bad := map[string]any{"code": "no spaces", "name": " ", "kind": "fibre", "price": -1, "currency": "USD",
		"billing": map[string]any{"mode": "later", "period": "decade"}, "rates": map[string]any{"down": 0, "up": -5}}
	var body struct{ Message []string }
	k.Want(t, 422, "invalid_input", isptest.Post(k.Admin(t), "/plans", bad)).Into(t, &body)
	told := map[string]int{}
	for _, fault := range body.Message {
		field, _, _ := strings.Cut(fault, " ")
		told[field]++
	}
	for _, field := range []string{
		"code", "name", "kind", "price", "currency", "billing.mode", "billing.period", "rates.down", "rates.up",
	} {
		if told[field] != 1 {
			t.Errorf("%s is told %d times in %q", field, told[field], body.Message)
		}
	}
}
