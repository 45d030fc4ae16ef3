package accessapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// TestVouchers_WhatIsUnusedOfABatchIsVoidedAndNothingElse: of five vouchers one is in use, one is used up and one is
// void; the other two are lost together.
func TestVouchers_WhatIsUnusedOfABatchIsVoidedAndNothingElse(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	plan := hotspotPlan(t, k, admin, "hour", "hour")
	var made, other batch
	k.Want(t, 201, "", isptest.Post(admin, "/vouchers", map[string]any{"planId": plan, "count": 5})).Into(t, &made)
	k.Want(t, 201, "", isptest.Post(admin, "/vouchers", map[string]any{"planId": plan, "count": 1})).Into(t, &other)
	for n, hours := range []time.Duration{1, 3} {
		voucher, _ := k.Codes().ID(k.Acme, made.Codes[n])
		k.Settle(t, k.Run(t, commands.SignInVoucher{
			Subject: events.VoucherSubject{VoucherID: voucher, OrgID: k.Acme, BatchID: made.ID},
			Price:   money.Major(20, money.KES), DeviceID: id.New[id.Device](), MAC: personal.Of("02:00:00:00:00:01"),
			FirstAt: k.Clock.Now(), EndsAt: k.Clock.Now().Add(hours * time.Hour), At: k.Clock.Now(),
		}).Position)
	}
	byID, _ := k.Codes().ID(k.Acme, made.Codes[2])
	k.Want(t, 200, "", isptest.Post(admin, "/vouchers/"+byID.String()+"/void", map[string]any{"reason": "torn"}))
	k.Clock.Advance(2 * time.Hour)
	admin = k.Admin(t)
	void := isptest.Post(admin, "/voucher-batches/"+made.ID.String()+"/void-unused", map[string]any{
		"reason": "shop burnt",
	})
	type counts struct{ Unused, Active, Used, Void int }
	type row struct {
		ID       id.VoucherBatch
		Count    int
		Vouchers counts
	}
	var done struct {
		Voided, InUse int
		Batch         row
	}
	for _, want := range []int{2, 0} {
		k.Want(t, 200, "", void).Into(t, &done)
		if done.Voided != want || done.InUse != 0 || done.Batch.Vouchers != (counts{Active: 1, Used: 1, Void: 3}) {
			t.Errorf("voided: %+v", done)
		}
	}
	var page struct{ Data []row }
	k.Want(t, 200, "", isptest.Get(admin, "/voucher-batches")).Into(t, &page)
	want := []row{
		{ID: other.ID, Count: 1, Vouchers: counts{Unused: 1}},
		{ID: made.ID, Count: 5, Vouchers: counts{Active: 1, Used: 1, Void: 3}},
	}
	if diff := cmp.Diff(want, page.Data); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	_, body := list(t, k, admin, "&state=void")
	if strings.Count(body, `"voidReason":"shop burnt"`) != 2 || strings.Count(body, `"voidReason":"torn"`) != 1 ||
		strings.Contains(body, `"voidedBy":null`) || strings.Contains(body, `"voidedByName":null`) {
		t.Errorf("who and why: %s", body)
	}
}

func TestVouchers_ABatchOfAnotherOrganizationDoesNotExist(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	var made batch
	k.Want(t, 201, "", isptest.Post(admin, "/vouchers", map[string]any{
		"planId": hotspotPlan(t, k, admin, "hour", "hour"), "count": 1,
	})).Into(t, &made)
	void := func(as, batch string) apitest.Request {
		return isptest.Post(as, "/voucher-batches/"+batch+"/void-unused", map[string]any{"reason": "mine"})
	}
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	k.Want(t, 404, "voucher_batch_not_found", isptest.At(apitest.Other, void(olga, made.ID.String())))
	voucher, _ := k.Codes().ID(k.Acme, made.Codes[0])
	k.Want(t, 404, "voucher_not_found", isptest.At(apitest.Other, isptest.Post(olga,
		"/vouchers/"+voucher.String()+"/void", map[string]any{"reason": "mine"})))
	if a := k.Want(t, 200, "", isptest.At(apitest.Other, isptest.Get(olga, "/voucher-batches"))); !strings.Contains(
		string(a.Body), `"data":[]`) {
		t.Errorf("another organization sees %s", a.Body)
	}
	k.Want(t, 404, "voucher_batch_not_found", void(admin, "x"))
	bare := void(admin, made.ID.String())
	bare.Body = map[string]any{}
	k.Want(t, 400, "missing_field", bare)
	support := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	k.Want(t, 403, "role_required", void(support, made.ID.String()))
	if states, _ := list(t, k, admin, "&state=unused"); len(states) != 1 {
		t.Errorf("left unused: %v", states)
	}
}
