package main

import (
	"context"
	"fmt"
	"testing"
)

// correctionsAre waits until the report of today has these kinds: number, sum, and how many a second person agreed to.
func (k *kit) correctionsAre(want ...string) {
	k.t.Helper()
	var report answer
	k.eventually(fmt.Sprint("the report to have ", want), func(ctx context.Context) (bool, error) {
		var err error
		report, err = k.admin.call(ctx, "GET", "/reports/corrections", "", nil)
		var got []string
		totals, _ := report["totals"].(map[string]any)
		for _, kind := range answer(totals).list("kinds") {
			got = append(got, fmt.Sprint(kind["kind"], " ", kind["count"], " ", kind["sum"], " ", kind["approved"]))
		}
		if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			return false, fmt.Errorf("the report has %v", got)
		}
		return err == nil, err
	})
	if sum := report.at("totals.count"); sum == "0" {
		k.t.Errorf("the report is %v", report)
	}
}

func TestCorrections_AgreeWithTheEvents(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(0)
	colleague := k.colleagues("cara")[0]
	cash := func(n, amount int) (customer, receipt string) {
		customer, _ = k.invoicedFor(n, 100)
		paid := k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": customer, "amount": amount, "reference": fmt.Sprint("till ", n),
		})
		if receipt = paid.text("receiptId"); receipt == "" {
			receipt = paid.text("id")
		}
		return customer, receipt
	}
	to, one := cash(1, 310)
	_, two := cash(2, 420)
	_, three := cash(3, 630)
	_, voided := k.invoicedFor(4, 50)
	_, wrong := k.invoicedFor(5, 90)
	for path, body := range map[string]map[string]any{
		"/receipts/" + one + "/reverse": because(),
		"/receipts/" + two + "/reattribute": {
			"subscriberId": to, "reason": "another's", "noPrompt": true,
		},
		"/invoices/" + voided + "/void": because(),
		"/invoices/" + wrong + "/reissue": {"reason": "wrong price", "lines": []map[string]any{
			{"description": "Installation", "quantity": 2, "unitPrice": 30},
		}},
	} {
		k.approves(colleague, k.askedFor(k.admin, path, body), "carried_out")
	}
	// A refund waits for its approval anyway: above the limit for somebody else.
	refund := k.must(k.admin, "POST", "/receipts/"+three+"/refund", map[string]any{
		"amount": 480, "reason": "paid twice", "by": "manual",
	}).text("id")
	k.eventually("the money of the refund to wait", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/refunds/"+refund, "", nil)
		return now["secured"] == true, err
	})
	own := k.askedFor(k.admin, "/refunds/"+refund+"/approve", nil)
	if again := k.askedFor(k.admin, "/refunds/"+refund+"/approve", nil); again != own {
		t.Errorf("a refund has the approvals %s and %s", own, again)
	}
	if now := k.must(colleague, "POST", "/refunds/"+refund+"/approve", nil); now.text("state") != "approved" {
		t.Errorf("approved by a colleague: %v", now)
	}
	k.approvalIs(own, "carried_out")
	k.settled()
	k.soundBooks()
	k.correctionsAre("reattribution 1 420 1", "refund 1 480 1", "reissue 1 30 1", "reversal 1 310 1", "void 1 50 1")
}
