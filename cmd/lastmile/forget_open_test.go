package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// forgetPath is the path of a customer's.
func forgetPath(subscriber string) string { return "/subscribers/" + subscriber + "/forget" }

// because3March is its body.
func because3March() map[string]any { return map[string]any{"reason": forgetReason} }

// obstacles waits until exactly these stand in the way, and expects the refusal to name the first of them.
func (k *kit) obstacles(subscriber string, codes ...string) {
	k.t.Helper()
	k.eventually(fmt.Sprint("only ", codes, " to stand in the way"), func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", forgetPath(subscriber), "", nil)
		list, _ := now["open"].([]any)
		return err == nil && fmt.Sprint(list) == fmt.Sprint(codes), err
	})
	if len(codes) > 0 {
		k.refused(k.admin, "POST "+forgetPath(subscriber), because3March(), 409, codes[0])
	}
}

// TestForget_AnOpenRefundAndAnOpenApprovalStandInTheWay: until the one is paid out, and a second person has decided
// about the other. An act that moves money to the customer is about the customer, too. A repeat of the forgetting
// changes nothing, whoever asks, and an organization finds nobody but its own customers.
func TestForget_AnOpenRefundAndAnOpenApprovalStandInTheWay(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	colleague := k.colleagues("cara")[0]
	beta := k.organization("beta", "admin@beta.test")
	customer, _ := k.subscriber("254711000841")
	other, _ := k.subscriber("254711000842")
	cash := func(of string, amount int) string {
		return k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": of, "amount": amount, "reference": fmt.Sprint("till ", amount),
		}).text("receiptId")
	}
	own, theirs := cash(customer, 400), cash(other, 250)
	k.obstacles(customer, "forget_credit_left")
	refund := k.must(k.admin, "POST", "/receipts/"+own+"/refund", map[string]any{
		"amount": 400, "reason": "moved away", "by": "manual",
	}).text("id")
	k.obstacles(customer, "forget_refund_open")
	k.must(colleague, "POST", "/refunds/"+refund+"/approve", nil)
	k.obstacles(customer, "forget_refund_open")
	k.must(k.admin, "POST", "/refunds/"+refund+"/settle", map[string]any{"outcome": "completed", "reference": "PAID-1"})
	k.obstacles(customer)

	k.limitedTo(0)
	moved := k.must(k.admin, "POST", "/receipts/"+theirs+"/reattribute", map[string]any{
		"subscriberId": customer, "reason": "another's", "noPrompt": true,
	}).text("approvalId")
	k.refused(k.admin, "POST "+forgetPath(customer), because3March(), 409, "forget_approval_open") // at once
	k.obstacles(customer, "forget_approval_open")
	k.must(colleague, "POST", "/approvals/"+moved+"/refuse", because())
	k.obstacles(customer)

	k.refused(beta, "POST "+forgetPath(customer), because3March(), 404, "subscriber_not_found")
	k.refused(k.admin, "POST "+forgetPath(id.New[id.Any]().String()), because3March(), 404, "subscriber_not_found")
	k.must(k.admin, "POST", forgetPath(customer), because3March())
	k.erased(customer)
	head, err := k.app.storage.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := k.must(colleague, "POST", forgetPath(customer), map[string]any{"reason": "once more"})
	if after, err := k.app.storage.store.Head(t.Context()); err != nil || after != head ||
		again.text("status") != "forgotten" {
		t.Errorf("a repeat: %v; the log went from %d to %d, %v", again, head, after, err)
	}
	k.obstacles(customer)
	k.refused(beta, "POST "+forgetPath(customer), because3March(), 404, "subscriber_not_found")
	k.soundBooks()
}
