package subscribersapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// searched gives the first names of the subscribers that a query finds.
func (k *ispKit) searched(t *testing.T, as, query string) []string {
	t.Helper()
	var page struct{ Data []isptest.Client }
	k.Want(t, 200, "", isptest.Get(as, "/subscribers?"+query)).Into(t, &page)
	names := []string{}
	for _, c := range page.Data {
		names = append(names, c.FirstName)
	}
	return names
}

func TestSubscribers_RegisterReadSearchChange(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, support := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	c := k.Register(t, admin, isptest.Amina())
	if !commands.ValidAccountNumber(c.AccountNumber) || c.Phone != "+254712345678" || *c.Email != "amina@mail.test" ||
		c.Status != "active" || c.Balance != "0.00" || c.Currency != "KES" {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff([]string{"vip", "estate 4"}, c.Tags); diff != "" {
		t.Errorf("tags %s", diff)
	}
	k.Register(t, admin, map[string]any{"firstName": "Brian", "phone": "+254712345678"}) // shared phone
	for query, want := range map[string][]string{
		"": {"Brian", "Amina"}, "q=ami": {"Amina"}, "q=OTIENO+ami": {"Amina"}, "q=0712": {"Brian", "Amina"},
		"q=%2B254+712": {"Brian", "Amina"}, "q=" + c.AccountNumber: {"Amina"}, "q=amina%40mail": {"Amina"}, "q=ina": {},
		"q=%25": {}, "q=_mina": {}, "tag=vip": {"Amina"}, "tag=nobody": {}, "status=blocked": {},
		"status=active&tag=vip&q=wanj": {"Amina"},
	} {
		if diff := cmp.Diff(want, k.searched(t, support, query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	path := "/subscribers/" + c.ID
	a := k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{
		"lastName": "", "email": "", "tags": []string{}, "phone": "0733 000 111",
	}))
	var changed isptest.Client
	a.Into(t, &changed)
	if changed.FirstName != "Amina" || changed.LastName != "" || changed.Email != nil || len(changed.Tags) != 0 ||
		changed.Phone != "+254733000111" || changed.Location == nil {
		t.Errorf("%s", a.Body)
	}
	if diff := cmp.Diff([]string{"Brian"}, k.searched(t, support, "q=0712")); diff != "" {
		t.Errorf("the old phone still finds: %s", diff)
	}
	if read := k.Want(t, 200, "", isptest.Get(support, path)); read.Header.Get("ETag") != a.Header.Get("ETag") ||
		string(read.Body) != string(a.Body) {
		t.Errorf("read %s %s, written %s %s", read.Header.Get("ETag"), read.Body, a.Header.Get("ETag"), a.Body)
	}
	again := k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{}))
	if again.Header.Get("ETag") != a.Header.Get("ETag") {
		t.Error("an empty change made a revision")
	}
	var cleared isptest.Client
	k.Want(t, 200, "", isptest.Patch(admin, path, `{"location":null,"notes":null,"tags":null,"lastName":null}`)).Into(t,
		&cleared)
	if cleared.Location != nil || cleared.FirstName != "Amina" {
		t.Errorf("null took nothing away: %+v", cleared)
	}
	for _, required := range []string{`{"phone":null}`, `{"firstName":null}`} {
		k.Want(t, 422, "invalid_input", isptest.Patch(admin, path, required))
	}
	stale := isptest.Patch(admin, path, map[string]any{"firstName": "X"})
	for _, match := range []string{`"0"`, `"18446744073709551615"`} { // the largest revision that can be written
		stale.Header = map[string]string{"If-Match": match}
		k.Want(t, 412, "stale_revision", stale)
	}
}

func TestSubscribers_BlockAndAccess(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	path := "/subscribers/" + c.ID
	access := func() string {
		var a struct {
			Entitled, Observed string
			Reasons            []struct {
				Code  string
				Cause struct{ Type, ID string }
			}
			Services []struct{ Entitled string }
		}
		k.Want(t, 200, "", isptest.Get(admin, path+"/access")).Into(t, &a)
		codes := []string{a.Entitled, a.Observed}
		for _, r := range a.Reasons {
			codes = append(codes, r.Code)
			if r.Cause.ID == "" {
				t.Errorf("%s without a cause", r.Code)
			}
		}
		return strings.Join(codes, " ")
	}
	expect := func(want string) {
		t.Helper()
		if got := access(); got != want {
			t.Errorf("access %q, want %q", got, want)
		}
	}
	expect("none unknown no_subscription")
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p1", "prepaid", "month"), nil)
	expect("none unknown awaiting_payment")
	k.pay(t, s)
	expect("full unknown paid")
	k.Want(t, 400, "missing_field", isptest.Post(admin, path+"/block", nil))
	var blocked isptest.Client
	k.Want(t, 200, "", isptest.Post(admin, path+"/block", map[string]string{"reason": "fraud"})).Into(t, &blocked)
	if blocked.Status != "blocked" {
		t.Errorf("status %s", blocked.Status)
	}
	expect("none unknown blocked paid")
	k.Want(t, 200, "", isptest.Post(admin, path+"/block", map[string]string{"reason": "fraud"}))
	k.Want(t, 200, "", isptest.Post(admin, path+"/unblock", map[string]string{"reason": "cleared"}))
	expect("full unknown paid")
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/pause", map[string]string{"reason": "travels"}))
	expect("none unknown paused")
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/resume", map[string]string{"reason": "is back"}))
	k.Clock.Advance(40 * 24 * time.Hour)
	admin = k.Admin(t)
	expect("none unknown expired")
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	expect("none unknown ended")
}

func TestSubscribers_FormAndRoles(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, support, cleo := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken,
		k.SignIn(t, apitest.Acme, isptest.ClientEmail).AccessToken
	for field, value := range map[string]any{
		"firstName": "", "phone": "123", "email": "x", "tags": []string{"<b>"},
		"location": map[string]any{"latitude": 91, "longitude": 0}, "balance": 5, "notes": strings.Repeat("x", 5001),
	} {
		body := isptest.Amina()
		body[field] = value
		if a := k.Do(t, isptest.Post(admin, "/subscribers", body)); a.Status != 422 ||
			!strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	unseen := isptest.Amina()
	unseen["firstName"] = "\u3164\u200b"
	k.Want(t, 422, "invalid_input", isptest.Post(admin, "/subscribers", unseen))
	k.Want(t, 400, "missing_field", isptest.Post(admin, "/subscribers", map[string]any{"firstName": "X"}))
	k.Want(t, 400, "malformed_body", isptest.Post(admin, "/subscribers", `{"firstName":`))
	for _, query := range []string{"status=gone", "limit=0", "limit=101", "limit=x"} {
		k.Want(t, 422, "invalid_input", isptest.Get(support, "/subscribers?"+query))
	}
	k.Want(t, 400, "bad_cursor", isptest.Get(support, "/subscribers?cursor=x"))
	c := k.Register(t, admin, isptest.Amina())
	for _, path := range []string{"/subscribers", "/plans", "/subscriptions"} {
		k.Want(t, 403, "role_required", isptest.Post(support, path, map[string]any{}))
		if path != "/subscriptions" { // of which a customer reads the own
			k.Want(t, 403, "role_required", isptest.Get(cleo, path))
		}
		k.Want(t, 401, "unauthenticated", isptest.Get("", path))
		k.Want(t, 404, "not_found", isptest.At(apitest.Domain, isptest.Get(admin, path)))
	}
	k.Want(t, 403, "role_required", isptest.Patch(support, "/subscribers/"+c.ID, map[string]any{}))
	k.Want(t, 404, "subscriber_not_found", isptest.Get(cleo, "/subscribers/"+c.ID))
}

func TestSubscribers_AnotherTenantsAreNotThere(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, olga := k.Admin(t), k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	c := k.Register(t, admin, isptest.Amina())
	plan := k.Plan(t, admin, "p1", "prepaid", "month")
	s := k.subscribe(t, admin, c.ID, plan, nil)
	reason := map[string]string{"reason": "x"}
	for _, r := range []apitest.Request{
		isptest.Get(olga, "/subscribers/"+c.ID), isptest.Get(olga, "/subscribers/"+c.ID+"/access"),
		isptest.Patch(olga, "/subscribers/"+c.ID, map[string]any{"firstName": "X"}),
		isptest.Post(olga, "/subscribers/"+c.ID+"/block", reason),
		isptest.Post(olga, "/subscribers/"+c.ID+"/unblock", reason), isptest.Get(olga, "/plans/"+plan),
		isptest.Patch(olga, "/plans/"+plan, map[string]any{"name": "X"}),
		isptest.Post(olga, "/plans/"+plan+"/archive", nil), isptest.Get(olga, "/subscriptions/"+s.ID),
		isptest.Post(olga, "/subscriptions/"+s.ID+"/pause", reason),
		isptest.Post(olga, "/subscriptions/"+s.ID+"/end", reason),
		isptest.Post(olga, "/subscriptions/"+s.ID+"/resume", reason),
	} {
		kind := strings.TrimSuffix(strings.Split(r.Path, "/")[1], "s")
		k.Want(t, 404, kind+"_not_found", isptest.At(apitest.Other, r))
	}
	// another tenant may use the same code
	mine := k.Do(t, isptest.At(apitest.Other, isptest.Post(olga, "/plans", isptest.PlanBody("p1", "prepaid", "month"))))
	var p struct{ ID string }
	mine.Into(t, &p)
	k.Want(t, 404, "subscriber_not_found",
		isptest.At(apitest.Other, isptest.Post(olga, "/subscriptions", map[string]any{
			"subscriberId": c.ID, "planId": p.ID,
		})))
	k.Want(t, 404, "plan_not_found", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": c.ID, "planId": p.ID,
	}))
	for _, path := range []string{"/subscribers", "/subscriptions", "/subscriptions?subscriberId=" + c.ID} {
		var page struct{ Data []any }
		k.Want(t, 200, "", isptest.At(apitest.Other, isptest.Get(olga, path))).Into(t, &page)
		if len(page.Data) != 0 {
			t.Errorf("%s shows %v", path, page.Data)
		}
	}
}

func TestSubscribers_PagesVisitEachOnceWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	for i := range 7 { // all at one instant, so that the id decides about the order
		k.Register(t, admin, map[string]any{"firstName": fmt.Sprintf("N%d", i), "phone": "0712345678"})
	}
	seen := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Data       []isptest.Client
			NextCursor *string
			HasMore    bool
		}
		k.Want(t, 200, "", isptest.Get(admin, "/subscribers?limit=2"+cursor)).Into(t, &page)
		for _, c := range page.Data {
			seen[c.FirstName]++
		}
		if page.HasMore != (page.NextCursor != nil) {
			t.Errorf("hasMore %v", page.HasMore)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
		k.Clock.Advance(time.Second)
		k.Register(t, admin, map[string]any{"firstName": "Late", "phone": "0712345678"})
	}
	for i := range 7 {
		if n := seen[fmt.Sprintf("N%d", i)]; n != 1 {
			t.Errorf("N%d seen %d times", i, n)
		}
	}
}

func TestSubscribers_RepeatWithAKeyRegistersOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	r := isptest.Post(admin, "/subscribers", isptest.Amina())
	r.Header = map[string]string{"Idempotency-Key": "k1"}
	first, second := k.Want(t, 201, "", r), k.Want(t, 201, "", r)
	if string(first.Body) != string(second.Body) || len(k.searched(t, admin, "")) != 1 {
		t.Errorf("%s, then %s", first.Body, second.Body)
	}
	r.Body = map[string]any{"firstName": "Another", "phone": "0712345678"}
	k.Want(t, 422, "idempotency_key_reused", r)
}

// pay pays the first invoice of a subscription now.
func (k *ispKit) pay(t *testing.T, s subscribed) {
	t.Helper()
	sub := id.Must[id.Subscription](s.ID)
	done := k.Run(t, commands.ExtendSubscription{
		SubscriptionID: sub, InvoiceID: id.Must[id.Invoice](*s.OpenInvoiceID), PaidAt: k.Clock.Now(),
	})
	k.Settle(t, done.Position)
}
