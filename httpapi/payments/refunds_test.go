package paymentsapi_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// shownRefund has the fields of a refund that the tests compare.
type shownRefund struct {
	ID          string
	State       string
	Amount      float64
	Secured     bool
	Failure     *string
	Reference   *string
	Reason      *string
	RequestedBy *struct{ ID string }
}

// refund asks for a refund of one of Acme's receipts.
func (k *moneyKit) refund(t *testing.T, receipt id.Receipt, body map[string]any) (out shownRefund) {
	t.Helper()
	body["by"], body["reason"] = "manual", "paid twice"
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt.String()+"/refund", body, 201).Into(t, &out)
	return out
}

// decide posts to a refund.
func (k *moneyKit) decide(t *testing.T, refund, action string, body any, status int) (out shownRefund) {
	t.Helper()
	a := k.Post(t, apitest.Acme, apitest.Admin, "/refunds/"+refund+"/"+action, body, status)
	if status == http.StatusOK {
		a.Into(t, &out)
	}
	return out
}

// paid has Amina pay at the paybill, and gives the receipt.
func (k *moneyKit) paid(t *testing.T, reference string, shillings int64) id.Receipt {
	t.Helper()
	r := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", reference, shillings)
	return commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber)
}

func TestRefund_ByHandLeavesTheBooksForGood(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	part := k.refund(t, receipt, map[string]any{"amount": 150})
	if part.State != "requested" || !part.Secured || part.Amount != 150 || part.RequestedBy == nil {
		t.Fatalf("requested: %+v", part)
	}
	if credit := k.Account(t, k.Amina).Credit().Minor; credit != 25000 {
		t.Errorf("%d are credit while 150 wait", credit)
	}
	k.decide(t, part.ID, "settle", map[string]any{"outcome": "completed", "reference": "CHQ 12"}, 409)
	k.decide(t, part.ID, "approve", map[string]any{}, 200)
	k.decide(t, part.ID, "settle", map[string]any{"outcome": "completed"}, 422)
	done := k.decide(t, part.ID, "settle", map[string]any{"outcome": "completed", "reference": "CHQ 12"}, 200)
	if done.State != "completed" || done.Reference == nil || *done.Reference != "CHQ 12" {
		t.Errorf("settled: %+v", done)
	}
	k.decide(t, part.ID, "settle", map[string]any{"outcome": "failed", "reason": "no"}, 409)
	k.Quiet(t)
	if shown := k.receipt(t, receipt.String()); shown.State != "matched" {
		t.Errorf("a part was refunded, and the receipt is %s", shown.State)
	}
	rest := k.refund(t, receipt, map[string]any{})
	k.decide(t, rest.ID, "approve", map[string]any{}, 200)
	k.decide(t, rest.ID, "settle", map[string]any{"outcome": "completed", "reference": "CHQ 13"}, 200)
	k.Quiet(t)
	if shown := k.receipt(t, receipt.String()); shown.State != "refunded" {
		t.Errorf("all of it was refunded, and the receipt is %s", shown.State)
	}
	if a := k.Account(t, k.Amina); !a.Credit().IsZero() || a.Balance().Minor != 0 {
		t.Errorf("credit %s, balance %s", a.Credit(), a.Balance())
	}
	proof, _ := k.proof(t, receipt)
	for _, kind := range []string{
		"refund_requested", "set_aside", "refund_approved", "refund_completed", "paid_out", "refunded",
	} {
		if !slices.Contains(proof.kinds(), kind) {
			t.Errorf("%s is missing in %v", kind, proof.kinds())
		}
	}
	if told := k.timeline(t, k.Amina); !strings.Contains(told, "refund_requested") ||
		!strings.Contains(told, "paid twice") || !strings.Contains(told, "refund_paid_out") {
		t.Errorf("timeline: %s", told)
	}
	path := "/receipts/" + receipt.String()
	for action, body := range map[string]map[string]any{
		"/refund": {"by": "manual", "reason": "again"}, "/reverse": {"reason": "again"},
	} {
		if code := k.Post(t, apitest.Acme, apitest.Admin, path+action, body, 409).Code(); code != "receipt_refunded" {
			t.Errorf("%s: %s", action, code)
		}
	}
}

func TestRefund_ThatIsNotPaidIsCreditAgain(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	cancelled := k.refund(t, receipt, map[string]any{})
	if code := k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt.String()+"/refund",
		map[string]any{"by": "manual", "reason": "again"}, 409).Code(); code != "refund_too_large" {
		t.Errorf("the same money again: %s", code)
	}
	got := k.decide(t, cancelled.ID, "cancel", map[string]any{"reason": "changed her mind"}, 200)
	if got.State != "failed" || got.Failure == nil || *got.Failure != "cancelled" {
		t.Errorf("cancelled: %+v", got)
	}
	k.Quiet(t)
	unpaid := k.refund(t, receipt, map[string]any{})
	k.decide(t, unpaid.ID, "approve", map[string]any{}, 200)
	k.decide(t, unpaid.ID, "settle", map[string]any{"outcome": "failed", "reason": "the phone is gone"}, 200)
	k.Quiet(t)
	if credit := k.Account(t, k.Amina).Credit().Minor; credit != 40000 {
		t.Errorf("credit %d", credit)
	}
	var open, all struct{ Data []shownRefund }
	k.Do(t, apitest.Request{Path: "/refunds?open=true", As: apitest.Support}).Into(t, &open)
	k.Do(t, apitest.Request{Path: "/refunds?receiptId=" + receipt.String(), As: apitest.Support}).Into(t, &all)
	if len(open.Data) != 0 || len(all.Data) != 2 || all.Data[0].ID != unpaid.ID {
		t.Errorf("open %+v, all %+v", open.Data, all.Data)
	}
}

func TestRefund_OfMoneyInSuspenseIsWholeAndCreditsNobodyMeanwhile(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, "no idea", 250)
	path := "/receipts/" + receipt.String()
	k.Post(t, apitest.Acme, apitest.Admin, path+"/refund", map[string]any{"by": "manual", "reason": "not ours"}, 404)
	k.Post(t, apitest.Domain, apitest.Super, path+"/assign", map[string]any{"orgId": k.Org}, 200)
	k.Post(t, apitest.Acme, apitest.Support, path+"/refund", map[string]any{"by": "manual", "reason": "x"}, 403)
	a := k.Post(t, apitest.Acme, apitest.Admin, path+"/refund",
		map[string]any{"by": "manual", "reason": "a stranger", "amount": 100}, 409)
	if a.Code() != "refund_whole_only" {
		t.Errorf("a part: %s", a.Body)
	}
	first := k.refund(t, receipt, map[string]any{})
	if !first.Secured || first.Amount != 250 {
		t.Fatalf("requested: %+v", first)
	}
	attribute := map[string]any{"subscriberId": k.Amina}
	a = k.Post(t, apitest.Acme, apitest.Admin, path+"/attribute", attribute, 409)
	if a.Code() != "receipt_refunded" {
		t.Errorf("attribute: %s", a.Body)
	}
	k.decide(t, first.ID, "cancel", map[string]any{"reason": "wait"}, 200)
	k.Quiet(t)
	second := k.refund(t, receipt, map[string]any{})
	k.decide(t, second.ID, "approve", map[string]any{}, 200)
	k.decide(t, second.ID, "settle", map[string]any{"outcome": "completed", "reference": "TX 9"}, 200)
	k.Quiet(t)
	if shown := k.receipt(t, receipt.String()); shown.State != "refunded" {
		t.Errorf("receipt: %+v", shown)
	}
	k.Post(t, apitest.Acme, apitest.Admin, path+"/attribute", attribute, 409)
	k.expectCredited(t, 0, 0)
}

func TestRefund_ByReversalIsRefusedClearlyAndAnothersIsNotFound(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	path := "/receipts/" + receipt.String() + "/refund"
	a := k.Post(t, apitest.Acme, apitest.Admin, path, map[string]any{"by": "reversal", "reason": "x"}, 409)
	if a.Code() != "reversal_not_available" {
		t.Errorf("reversal: %s", a.Body)
	}
	k.Post(t, apitest.Acme, apitest.Admin, path, map[string]any{"by": "magic", "reason": "x"}, 422)
	k.Post(t, apitest.Acme, apitest.Admin, path, map[string]any{"by": "manual", "reason": "x", "amount": 0}, 422)
	r := k.refund(t, receipt, map[string]any{})
	for action, body := range map[string]any{
		"approve": map[string]any{}, "cancel": map[string]any{"reason": "ours"},
		"settle": map[string]any{"outcome": "completed", "reference": "1"},
	} {
		k.Post(t, apitest.Other, apitest.OtherAdmin, "/refunds/"+r.ID+"/"+action, body, 404)
	}
	other := k.Do(t, apitest.Request{Host: apitest.Other, Path: "/refunds/" + r.ID, As: apitest.OtherAdmin})
	if other.Status != http.StatusNotFound {
		t.Errorf("another organization reads %s", other.Body)
	}
}

func TestRefund_ARepeatUnderAKeyIsTheSameRefund(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	ask := apitest.Request{
		Method: "POST", Path: "/receipts/" + receipt.String() + "/refund", As: apitest.Admin,
		Body:   map[string]any{"by": "manual", "reason": "paid twice", "amount": 150},
		Header: map[string]string{"Idempotency-Key": "one"},
	}
	var first, second shownRefund
	k.Do(t, ask).Into(t, &first)
	k.Do(t, ask).Into(t, &second)
	k.Quiet(t)
	if first.ID == "" || first.ID != second.ID {
		t.Errorf("%+v and %+v", first, second)
	}
	if credit := k.Account(t, k.Amina).Credit().Minor; credit != 25000 {
		t.Errorf("credit %d", credit)
	}
}

// The refund and the move are asked for at once, by two people. The money is in one place in the end: set aside where
// it was, or on the other account with a refund that failed.
func TestRefund_AskedForWhileTheReceiptMovesHasOnePlace(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	receipts := make([]id.Receipt, 6)
	for n := range receipts {
		receipts[n] = k.paid(t, commands.AccountNumber(1_000_000), 100)
	}
	refunds := make([]string, len(receipts))
	var both sync.WaitGroup
	for n, receipt := range receipts {
		path := "/receipts/" + receipt.String()
		both.Go(func() {
			var out shownRefund
			k.Do(t, apitest.Request{
				Method: "POST", Path: path + "/refund", As: apitest.Admin,
				Body: map[string]any{"by": "manual", "reason": "paid twice"},
			}).Into(t, &out)
			refunds[n] = out.ID
		})
		both.Go(func() {
			k.Do(t, apitest.Request{
				Method: "POST", Path: path + "/reattribute", As: apitest.Admin,
				Body: map[string]any{"subscriberId": k.Chege, "reason": "typing error"},
			})
		})
	}
	both.Wait()
	k.Quiet(t)
	var aside int64
	for _, refund := range refunds {
		var r shownRefund
		if refund == "" {
			continue // refused at once
		}
		k.Do(t, apitest.Request{Path: "/refunds/" + refund, As: apitest.Support}).Into(t, &r)
		switch {
		case r.State == "requested" && r.Secured:
			aside += 10000
		case r.State != "failed":
			t.Errorf("refund: %+v", r)
		}
	}
	amina, chege := k.Account(t, k.Amina).Credit().Minor, k.Account(t, k.Chege).Credit().Minor
	if amina+chege+aside != int64(len(receipts))*10000 {
		t.Errorf("%d and %d are credit, %d are set aside", amina, chege, aside)
	}
}
