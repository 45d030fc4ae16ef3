package paymentsapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// timeline is the answer with all that happened to a subscriber of Acme, as text.
func (k *moneyKit) timeline(t *testing.T, of id.Subscriber) string {
	t.Helper()
	k.Shows(t, subscribersviews.TimelineName)
	a := k.Do(t, apitest.Request{Path: "/subscribers/" + of.String() + "/timeline?limit=100", As: apitest.Support})
	if a.Status != http.StatusOK {
		t.Fatalf("timeline: %d %s", a.Status, a.Body)
	}
	return string(a.Body)
}

// A customer names the number on the phone, or the clerk's own cash book, in whatever case they type it.
func TestMoney_IsFoundByTheNumberOfItsReceipt(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 100, "reference": "Book 17/3"}, 201)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 100, "reference": "Book  17/3"}, 409)
	k.Quiet(t)
	for _, c := range []struct {
		path, number string
		found        int
	}{
		{"/receipts", r.ReceiptNumber, 1}, {"/receipts", " " + strings.ToLower(r.ReceiptNumber) + " ", 1},
		{"/receipts", r.ReceiptNumber[:9], 0}, {"/receipts", "BOOK 17/3", 1}, {"/receipts", "book  17/3", 1},
		{"/payments", "Book  17/3", 1}, {"/payments", "book 17/3", 1}, {"/payments", "book 17", 0},
	} {
		var page struct{ Data []shownReceipt }
		a := k.Do(t, apitest.Request{
			Path: c.path + "?receiptNumber=" + url.QueryEscape(c.number), As: apitest.Support,
		})
		a.Into(t, &page)
		if a.Status != http.StatusOK || len(page.Data) != c.found {
			t.Errorf("%s %q: %d %s", c.path, c.number, a.Status, a.Body)
		}
	}
}

// The platform finds money without an owner by its number, as an organization finds its own money.
func TestReceipts_ThePlatformFindsNobodysMoneyByItsNumber(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	r := k.Paybill(t, moneytest.PlatformShortcode, "254799000001", "HOUSE 12", 400)
	k.Paybill(t, moneytest.PlatformShortcode, "254799000001", "HOUSE 13", 400)
	k.Quiet(t)
	for number, found := range map[string]int{strings.ToLower(r.ReceiptNumber): 1, "AAAAAAAAAA": 0, "": 2} {
		var page struct{ Data []shownReceipt }
		a := k.Do(t, apitest.Request{
			Host: apitest.Domain, Path: "/receipts?receiptNumber=" + number, As: apitest.Super,
		})
		a.Into(t, &page)
		if a.Status != http.StatusOK || len(page.Data) != found {
			t.Errorf("%q: %d %s", number, a.Status, a.Body)
		}
	}
}

// Cash follows the same rule as a prompt: it is on the list of whoever has the money, and is no success once it was
// taken back.
func TestCash_ItsPaymentFollowsTheMoney(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 100, "reference": "Book 17/3"}, 201)
	receipt := "/receipts/" + commands.CashReceiptID(k.Org, "Book 17/3").String()
	sum := func(of string) (sum float64) {
		var page struct{ Data []moneytest.ShownPayment }
		path := "/payments?status=SUCCESS&subscriberId=" + of
		k.Do(t, apitest.Request{Path: path, As: apitest.Support}).Into(t, &page)
		for _, p := range page.Data {
			sum += p.Amount
		}
		return sum
	}
	for _, step := range []struct {
		action string
		body   map[string]any
		amina  float64
		chege  float64
	}{
		{"/reattribute", map[string]any{"subscriberId": k.Chege, "reason": "typing error"}, 0, 100},
		{"/reverse", map[string]any{"reason": "forged"}, 0, 0},
	} {
		k.Post(t, apitest.Acme, apitest.Admin, receipt+step.action, step.body, 200)
		k.Quiet(t)
		if a, c := sum(k.Amina.String()), sum(k.Chege.String()); a != step.amina || c != step.chege {
			t.Errorf("%s: the lists sum to %v and %v", step.action, a, c)
		}
	}
}

func TestDisputedReceipt_IsAnAlarmInTheSuspenseInbox(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	account := commands.AccountNumber(1_000_000)
	k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P1", moneytest.PlatformShortcode, account, "100.00"), 200)
	k.Quiet(t)
	k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P1", moneytest.PlatformShortcode, account, "99999.00"), 200)
	k.Quiet(t)
	k.expectCredited(t, 100, 1)
	list := k.receipts(t, apitest.Acme, apitest.Admin, "?state=suspense")
	if len(list) != 1 || !list[0].Disputed || list[0].Amount != 100 {
		t.Fatalf("suspense %+v", list)
	}
	if to := list[0].CreditedTo; to == nil || *to != k.Amina.String() {
		t.Errorf("the inbox shows it as money that nobody has: %+v", list[0])
	}
	if told := k.timeline(t, k.Amina); !strings.Contains(told, "contradicts") {
		t.Errorf("her timeline does not tell of the dispute: %s", told)
	}
}

func TestAttribute_MoneyOfAnAttemptSettlesItOnItsOwnAccountOnly(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	k.behave(t, "silent", provider.Faults{})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	k.Post(t, apitest.Unknown, "", barePrompt, `{"Body":{"stkCallback":{"MerchantRequestID":"m","CheckoutRequestID":"`+
		*p.CheckoutRequestID+`","ResultCode":0,"ResultDesc":"ok","CallbackMetadata":{"Item":[
			{"Name":"Amount","Value":1000},{"Name":"MpesaReceiptNumber","Value":"SJK4X7Q2P9"}]}}}}`, 200)
	k.Quiet(t)
	receipt := "/receipts/" + commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P9").String()
	suspense := k.receipts(t, apitest.Acme, apitest.Admin, "?state=suspense")
	if len(suspense) != 1 || suspense[0].Amount != 1000 {
		t.Fatalf("suspense %+v", suspense)
	}
	for n, step := range []struct {
		action string
		to     any
		status string
		reason string
		shows  float64
		amina  int64
	}{
		{"/attribute", k.Chege, "PENDING", "", 1500, 0}, // the neighbour's money says nothing about the attempt
		{"/reattribute", k.Amina, "SUCCESS", "", 1000, 1000},
		{"/reattribute", k.Chege, "SUCCESS", "reattributed", 1000, 0},
		{"/reattribute", k.Amina, "SUCCESS", "", 1000, 1000},
		{"/reverse", nil, "FAILED", "reversed", 1000, 0},
	} {
		body := map[string]any{"reason": "typing error", "subscriberId": step.to}
		switch step.action {
		case "/attribute":
			delete(body, "reason")
		case "/reverse":
			delete(body, "subscriberId")
		}
		k.Post(t, apitest.Acme, apitest.Admin, receipt+step.action, body, 200)
		k.Quiet(t)
		shown := k.payment(t, p.PaymentID)
		reason := ""
		if shown.Reason != nil {
			reason = *shown.Reason
		}
		if shown.Status != step.status || reason != step.reason || shown.Amount != step.shows {
			t.Errorf("step %d: payment %+v, reason %q", n, shown, reason)
		}
		if sum, _ := k.Credited(t, k.Amina); sum != step.amina {
			t.Errorf("step %d: Amina has %d", n, sum)
		}
	}
}
