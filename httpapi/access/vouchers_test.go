package accessapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// batch is the answer of POST /vouchers.
type batch struct {
	ID       id.VoucherBatch
	Count    int
	Price    float64
	Currency string
	Codes    []string
}

// hotspotPlan makes a plan for vouchers and gives its id.
func hotspotPlan(t *testing.T, k *isptest.Kit, as, code, period string) string {
	t.Helper()
	body := isptest.PlanBody(code, "prepaid", period)
	body["kind"], body["price"] = "hotspot", 20
	var p struct{ ID string }
	k.Want(t, 201, "", isptest.Post(as, "/plans", body)).Into(t, &p)
	return p.ID
}

// list reads the vouchers of a filter.
func list(t *testing.T, k *isptest.Kit, as, filter string) (states []string, body string) {
	t.Helper()
	answer := k.Want(t, 200, "", isptest.Get(as, "/vouchers?limit=100"+filter))
	var page struct{ Data []struct{ State string } }
	answer.Into(t, &page)
	for _, row := range page.Data {
		states = append(states, row.State)
	}
	return states, string(answer.Body)
}

func TestVouchers_CodesAreShownOnceAndRepeatedUnderTheKeyAlone(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	post := isptest.Post(admin, "/vouchers", map[string]any{
		"planId": hotspotPlan(t, k, admin, "hour", "hour"), "count": 1200, "prefix": "cafe",
	})
	post.Header = map[string]string{"Idempotency-Key": "vouchers-1"}
	var first, again batch
	answer := k.Want(t, 201, "", post)
	answer.Into(t, &first)
	k.Want(t, 201, "", post).Into(t, &again)
	if len(first.Codes) != 1200 || first.Count != 1200 || first.Price != 20 || first.Currency != "KES" ||
		strings.Join(first.Codes, " ") != strings.Join(again.Codes, " ") || first.ID != again.ID ||
		answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d codes of %+v, then %d of %v", len(first.Codes), first.ID, len(again.Codes), again.ID)
	}
	if code := first.Codes[0]; !strings.HasPrefix(code, "cafe-") || len(code) != len("cafe-2345-2345-2345") {
		t.Errorf("code %q", code)
	}
	states, body := list(t, k, k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken, "&state=unused")
	if len(states) != 100 || strings.Contains(body, first.Codes[0]) {
		t.Errorf("listed %v", states)
	}
	support := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	k.Want(t, 403, "role_required", isptest.Post(support, "/vouchers", map[string]any{"planId": "x", "count": 1}))
}

func TestVouchers_FaultsOfTheForm(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	hotspot := hotspotPlan(t, k, admin, "hour", "hour")
	pppoe := k.Plan(t, admin, "home", "prepaid", "month")
	for _, c := range []struct {
		plan, prefix string
		count        int
		fault        string
	}{
		{hotspot, "", 0, "count"}, {hotspot, "", 5001, "count"}, {hotspot, "", -1, "count"},
		{pppoe, "", 1, "planId"}, {hotspot, "caf\u00e9", 1, "prefix"}, {hotspot, "elevenchars", 1, "prefix"},
	} {
		answer := k.Want(t, 422, "invalid_input", isptest.Post(admin, "/vouchers", map[string]any{
			"planId": c.plan, "count": c.count, "prefix": c.prefix,
		}))
		if !strings.Contains(string(answer.Body), c.fault+" must") {
			t.Errorf("%+v: %s", c, answer.Body)
		}
	}
	k.Want(t, 404, "plan_not_found", isptest.Post(admin, "/vouchers", map[string]any{
		"planId": id.New[id.Plan](), "count": 1,
	}))
	k.Want(t, 200, "", isptest.Post(admin, "/plans/"+hotspot+"/archive", map[string]any{"reason": "old"}))
	k.Want(t, 409, "plan_archived", isptest.Post(admin, "/vouchers", map[string]any{"planId": hotspot, "count": 1}))
}

func TestVouchers_AreVoidedByTheirCodeInAnyForm(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	var made batch
	k.Want(t, 201, "", isptest.Post(admin, "/vouchers", map[string]any{
		"planId": hotspotPlan(t, k, admin, "hour", "hour"), "count": 4,
	})).Into(t, &made)
	void := func(code string) apitest.Request {
		return isptest.Post(admin, "/vouchers/"+code+"/void", map[string]any{"reason": "stolen"})
	}
	for _, code := range []string{"x", "2345-2345-2345", made.Codes[0] + "2", id.New[id.Voucher]().String()} {
		k.Want(t, 404, "voucher_not_found", void(code))
	}
	k.Want(t, 400, "missing_field", isptest.Post(admin, "/vouchers/"+made.Codes[0]+"/void", map[string]any{}))
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	foreign := isptest.At(apitest.Other, isptest.Post(olga, "/vouchers/"+made.Codes[0]+"/void",
		map[string]any{"reason": "mine"}))
	k.Want(t, 404, "voucher_not_found", foreign)
	plain := strings.ToLower(strings.ReplaceAll(made.Codes[0], "-", ""))
	for range 2 {
		if answer := k.Want(t, 200, "", void(plain)); !strings.Contains(string(answer.Body), `"state":"void"`) {
			t.Errorf("voided: %s", answer.Body)
		}
	}
	for n := 1; n < 3; n++ {
		voucher, _ := k.Codes().ID(k.Acme, made.Codes[n])
		done := k.Run(t, commands.SignInVoucher{
			Subject: events.VoucherSubject{VoucherID: voucher, OrgID: k.Acme, BatchID: made.ID},
			Price:   money.Major(20, money.KES), DeviceID: id.New[id.Device](), MAC: personal.Of("02:00:00:00:00:01"),
			FirstAt: k.Clock.Now(),
			EndsAt:  k.Clock.Now().Add(time.Duration(n) * time.Hour), At: k.Clock.Now(),
		})
		k.Settle(t, done.Position)
	}
	k.Clock.Advance(time.Hour)
	admin = k.Admin(t)
	k.Want(t, 409, "voucher_used", void(made.Codes[1]))
	for state, router := range map[string]string{
		"unused": "null", "active": `"tower"`, "used": `"tower"`, "void": "null",
	} {
		states, body := list(t, k, admin, "&state="+state+"&batchId="+made.ID.String())
		if len(states) != 1 || states[0] != state || !strings.Contains(body, `"deviceName":`+router) {
			t.Errorf("%s: %v %s", state, states, body)
		}
	}
	if states, _ := list(t, k, admin, "&planId="+id.New[id.Plan]().String()); len(states) != 0 {
		t.Errorf("another plan's: %v", states)
	}
}

// TestVouchers_AnOrganizationHasABoundedNumber: requests at the same moment keep the bound together, a repeat makes
// none, and one that is void or used up makes room seven days after its end.
func TestVouchers_AnOrganizationHasABoundedNumber(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	plan := hotspotPlan(t, k, admin, "hour", "hour")
	post := func(count int) apitest.Request {
		return isptest.Post(admin, "/vouchers", map[string]any{"planId": plan, "count": count})
	}
	answers := make(chan apitest.Answer)
	for range 10 {
		go func() { answers <- k.Do(t, post(isptest.VoucherQuota/5)) }()
	}
	var made batch
	refused := 0
	for range 10 {
		switch answer := <-answers; answer.Status {
		case 201:
			answer.Into(t, &made)
		case 409:
			refused++
		default:
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	}
	if refused != 5 {
		t.Errorf("%d of 10 fifths are refused", refused)
	}
	k.Want(t, 409, "voucher_quota_reached", post(1))
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	body := isptest.PlanBody("hour", "prepaid", "hour")
	body["kind"] = "hotspot"
	var theirs struct{ ID string }
	k.Want(t, 201, "", isptest.At(apitest.Other, isptest.Post(olga, "/plans", body))).Into(t, &theirs)
	k.Want(t, 201, "", isptest.At(apitest.Other, isptest.Post(olga, "/vouchers", map[string]any{
		"planId": theirs.ID, "count": 1,
	})))
	k.Want(t, 200, "", isptest.Post(admin, "/vouchers/"+made.Codes[0]+"/void", map[string]any{"reason": "torn"}))
	voucher, _ := k.Codes().ID(k.Acme, made.Codes[1])
	k.Run(t, commands.SignInVoucher{
		Subject: events.VoucherSubject{VoucherID: voucher, OrgID: k.Acme, BatchID: made.ID},
		Price:   money.Major(20, money.KES), FirstAt: k.Clock.Now(), EndsAt: k.Clock.Now().Add(time.Hour),
		At: k.Clock.Now(),
	})
	after := func(d time.Duration) apitest.Request {
		k.Clock.Advance(d)
		admin = k.Admin(t)
		return post(1)
	}
	const week = 7 * 24 * time.Hour
	k.Want(t, 409, "voucher_quota_reached", after(0))
	k.Want(t, 409, "voucher_quota_reached", after(week-time.Second))
	k.Want(t, 201, "", after(time.Second)) // in the place of the void one
	k.Want(t, 409, "voucher_quota_reached", after(time.Hour-time.Second))
	last := after(time.Second) // in the place of the one that was used
	last.Header = map[string]string{"Idempotency-Key": "vouchers-1"}
	for range 2 {
		k.Want(t, 201, "", last)
	}
	k.Want(t, 409, "voucher_quota_reached", post(1))
}

// TestVouchers_OneUsedBeforeItsVoidingIsListedAsBoth: the sign-in is recorded after the voiding.
func TestVouchers_OneUsedBeforeItsVoidingIsListedAsBoth(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	var made batch
	k.Want(t, 201, "", isptest.Post(admin, "/vouchers", map[string]any{
		"planId": hotspotPlan(t, k, admin, "hour", "hour"), "count": 1,
	})).Into(t, &made)
	signedIn := k.Clock.Now()
	k.Clock.Advance(20 * time.Second)
	k.Want(t, 200, "", isptest.Post(admin, "/vouchers/"+made.Codes[0]+"/void", map[string]any{"reason": "lost"}))
	voucher, _ := k.Codes().ID(k.Acme, made.Codes[0])
	k.Settle(t, k.Run(t, commands.SignInVoucher{
		Subject: events.VoucherSubject{VoucherID: voucher, OrgID: k.Acme, BatchID: made.ID},
		Price:   money.Major(20, money.KES), FirstAt: signedIn, EndsAt: signedIn.Add(time.Hour), At: signedIn,
	}).Position)
	states, body := list(t, k, admin, "")
	if len(states) != 1 || states[0] != "void" || strings.Contains(body, `"redeemedAt":null`) {
		t.Errorf("listed %s", body)
	}
}
