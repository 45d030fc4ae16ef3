package paymentsapi_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// initiated is the answer of POST /payments/initiate as a client reads it.
type initiated struct {
	PaymentID         string  `json:"paymentId"`
	Status            string  `json:"status"`
	CheckoutRequestID *string `json:"checkoutRequestId"`
	CustomerMessage   *string `json:"customerMessage"`
	AmountRequested   float64 `json:"amountRequested"`
	Currency          string  `json:"currency"`
	ExpiresAt         *string `json:"expiresAt"`
	Reason            string  `json:"reason"`
}

// ask sends POST /payments/initiate, for Amina unless the body names another subscriber. Another status than the
// expected one ends the test.
func (k *moneyKit) ask(t *testing.T, as string, body map[string]any, status int) apitest.Answer {
	t.Helper()
	if body["subscriberId"] == nil {
		body["subscriberId"] = k.Amina
	}
	a := k.Do(t, apitest.Request{Method: "POST", Path: "/payments/initiate", As: as, Body: body})
	if a.Status != status {
		t.Fatalf("initiate: want %d, have %d %s", status, a.Status, a.Body)
	}
	return a
}

// prompt asks Amina for an amount of shillings; a refusal ends the test.
func (k *moneyKit) prompt(t *testing.T, shillings any) initiated {
	t.Helper()
	var out initiated
	k.ask(t, apitest.Admin, map[string]any{"amount": shillings}, http.StatusAccepted).Into(t, &out)
	return out
}

// payment reads a payment of Acme.
func (k *moneyKit) payment(t *testing.T, payment string) moneytest.ShownPayment {
	t.Helper()
	var out moneytest.ShownPayment
	k.Do(t, apitest.Request{Path: "/payments/" + payment, As: apitest.Support}).Into(t, &out)
	return out
}

// behave sets how the simulated phones answer, and which faults the provider has.
func (k *moneyKit) behave(t *testing.T, behaviour string, f provider.Faults) {
	t.Helper()
	if err := k.Sim.SetPhone("default", provider.Phone{Behaviour: behaviour}); err != nil {
		t.Fatal(err)
	}
	if err := k.Sim.SetFaults(f); err != nil {
		t.Fatal(err)
	}
}

// expectCredited ends the test unless Amina's account has the shillings, in that number of credits.
func (k *moneyKit) expectCredited(t *testing.T, shillings int64, times int) {
	t.Helper()
	if have, n := k.Credited(t, k.Amina); have != shillings || n != times {
		t.Fatalf("want %d credited in %d receipts, have %d in %d", shillings, times, have, n)
	}
}

func TestPrompt_SameReceiptByCallbackAndPaybillManyTimesIsCreditedOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	cases := []struct {
		name   string
		faults provider.Faults
	}{
		{"repeated", provider.Faults{DuplicateCallbacks: 3, C2BAlso: true}},
		{"repeated and reordered", provider.Faults{DuplicateCallbacks: 2, C2BAlso: true, ReorderCallbacks: true}},
		{"callback before the answer", provider.Faults{CallbackBeforeResponse: true, C2BAlso: true}},
		{"answer lost", provider.Faults{LoseResponse: 1, C2BAlso: true}},
	}
	for n, c := range cases {
		before, times := k.Credited(t, k.Amina)
		k.behave(t, "pay", c.faults)
		var p initiated
		k.ask(t, apitest.Admin, map[string]any{"amount": 1499.2, "phone": fmt.Sprintf("071200010%d", n)},
			http.StatusAccepted).Into(t, &p)
		if p.AmountRequested != 1500 || p.Currency != "KES" || p.ExpiresAt == nil {
			t.Errorf("%s: answer %+v", c.name, p)
		}
		k.Quiet(t)
		k.expectCredited(t, before+1500, times+1)
		shown := k.payment(t, p.PaymentID)
		if shown.Status != "SUCCESS" || shown.ReceiptNumber == nil || shown.Gateway != "mobile_money_stk" {
			t.Fatalf("%s: payment %+v", c.name, shown)
		}
	}
	if n := len(k.Sim.Prompts()); n != len(cases) {
		t.Errorf("%d attempts made %d prompts", len(cases), n)
	}
}

func TestPrompt_EndsAreShownWithTheirReasonAndFreeTheAccount(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for _, c := range []struct{ behaviour, status, reason, phone string }{
		{"cancel", "CANCELLED", "cancelled_by_customer", "0712000001"}, {
			"wrong_pin", "FAILED", "wrong_pin", "0712000002",
		},
		{"insufficient", "FAILED", "insufficient_funds", "0712000003"},
	} {
		k.behave(t, c.behaviour, provider.Faults{})
		var p initiated
		k.ask(t, apitest.Admin, map[string]any{"amount": 700, "phone": c.phone}, http.StatusAccepted).Into(t, &p)
		k.Quiet(t)
		if shown := k.payment(t, p.PaymentID); shown.Status != c.status || shown.Reason == nil ||
			*shown.Reason != c.reason {
			t.Errorf("%s: %+v", c.behaviour, shown)
		}
	}
	k.behave(t, "no_answer", provider.Faults{})
	p := k.prompt(t, 700)
	k.Quiet(t)
	if shown := k.payment(t, p.PaymentID); shown.Status != "PENDING" {
		t.Errorf("no answer: %+v", shown)
	}
	if code := k.ask(t, apitest.Admin, map[string]any{"amount": 699.5},
		http.StatusConflict).Code(); code != "payment_in_progress" {
		t.Errorf("second prompt of the amount: %s", code)
	}
	k.expectCredited(t, 0, 0)
}

func TestPrompt_ALateSuccessFollowsAFailure(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	if err := k.Sim.SetPhone("default", provider.Phone{Behaviour: "late_success", FirstResultCode: 2001}); err != nil {
		t.Fatal(err)
	}
	p := k.prompt(t, 900)
	k.Quiet(t)
	if shown := k.payment(t, p.PaymentID); shown.Status != "SUCCESS" {
		t.Errorf("payment %+v", shown)
	}
	k.expectCredited(t, 900, 1)
}

func TestPrompt_RefusedAtOnceAnswersFailedWithTheReason(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	if err := k.Sim.AddCredentials("platform", "secret", moneytest.PlatformShortcode, "another passkey"); err != nil {
		t.Fatal(err)
	}
	p := k.prompt(t, 100)
	if p.Status != "FAILED" || p.Reason == "" || p.CheckoutRequestID != nil {
		t.Errorf("answer %+v", p)
	}
	if n := len(k.Sim.Prompts()); n != 0 {
		t.Errorf("%d prompts", n)
	}
}

func TestPrompt_OpenBreakerIs503AndMakesNoAttempt(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{Down: true})
	for n, phone := range []string{"0712000001", "0712000002", "0712000003", "0712000004", "0712000005", "0712000006"} {
		a := k.Do(t, apitest.Request{Method: "POST", Path: "/payments/initiate", As: apitest.Admin,
			Body: map[string]any{"subscriberId": k.Amina, "amount": 50 + n, "phone": phone}})
		if a.Status == http.StatusServiceUnavailable {
			break
		}
	}
	before, _, err := k.Core.Store.ReadAll(t.Context(), 0, 1000, []string{events.PaymentInitiated{}.EventType()})
	if err != nil {
		t.Fatal(err)
	}
	a := k.ask(t, apitest.Admin, map[string]any{"amount": 60}, http.StatusServiceUnavailable)
	if a.Code() != "provider_unavailable" || a.Header.Get("Retry-After") == "" {
		t.Errorf("answer %s, Retry-After %q", a.Body, a.Header.Get("Retry-After"))
	}
	after, _, err := k.Core.Store.ReadAll(t.Context(), 0, 1000, []string{events.PaymentInitiated{}.EventType()})
	if err != nil || len(after) != len(before) {
		t.Errorf("%d attempts became %d, %v", len(before), len(after), err)
	}
}

func TestPrompt_ThreeInTenMinutesForOnePhone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for _, amount := range []int{10, 20, 30} {
		k.prompt(t, amount)
	}
	a := k.ask(t, apitest.Admin, map[string]any{"amount": 40, "phone": "0712 345 678"}, http.StatusTooManyRequests)
	if a.Code() != "too_many_prompts" || a.Header.Get("Retry-After") == "" {
		t.Errorf("answer %s", a.Body)
	}
}

func TestPrompt_TheSameIdempotencyKeyAsksOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "silent", provider.Faults{})
	var first []byte
	for n := range 3 {
		a := k.Do(t, apitest.Request{Method: "POST", Path: "/payments/initiate", As: apitest.Admin,
			Body: map[string]any{"subscriberId": k.Amina, "amount": 70}, Header: map[string]string{
				"Idempotency-Key": "one",
			}})
		if a.Status != http.StatusAccepted ||
			n > 0 && (string(a.Body) != string(first) || a.Header.Get("Idempotency-Replayed") != "true") {
			t.Errorf("try %d: %d %s", n, a.Status, a.Body)
		}
		first = a.Body
	}
	if n := len(k.Sim.Prompts()); n != 1 {
		t.Errorf("%d prompts", n)
	}
}

func TestPrompt_WhoMayAskWhom(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for name, c := range map[string]struct {
		as     string
		body   map[string]any
		status int
		code   string
	}{
		"unknown subscriber": {
			apitest.Admin,
			map[string]any{"subscriberId": commands.ReceiptID(commands.EnvironmentSandbox, "x"), "amount": 5}, 404,
			"subscriber_not_found",
		},
		"another organization's": {
			apitest.Admin, map[string]any{"subscriberId": k.Brian, "amount": 5}, 404, "subscriber_not_found",
		},
		"customer for somebody else": {
			apitest.Subscriber, map[string]any{"subscriberId": k.Brian, "amount": 5}, 404, "subscriber_not_found",
		},
		"customer, another's phone": {
			apitest.Subscriber, map[string]any{"amount": 5, "phone": "0733000000"}, 403, "phone_not_yours",
		},
		"nothing":        {apitest.Admin, map[string]any{"amount": 0}, 422, "invalid_input"},
		"too much":       {apitest.Admin, map[string]any{"amount": 250000.5}, 422, "invalid_input"},
		"three decimals": {apitest.Admin, map[string]any{"amount": 1.005}, 422, "invalid_input"},
		"no amount":      {apitest.Admin, map[string]any{}, 400, "missing_field"},
		"phone that is none": {
			apitest.Admin, map[string]any{"amount": 5, "phone": "12"}, 422, "invalid_input",
		},
		"an invoice that is not there": {
			apitest.Admin,
			map[string]any{"amount": 5, "invoiceId": commands.ReceiptID(commands.EnvironmentSandbox, "y")}, 404,
			"invoice_not_found",
		},
		"nobody": {"", map[string]any{"amount": 5}, 401, "unauthenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			if code := k.ask(t, c.as, c.body, c.status).Code(); code != c.code {
				t.Errorf("want %s, have %s", c.code, code)
			}
		})
	}
	var p initiated
	k.ask(t, apitest.Subscriber, map[string]any{"amount": 5, "phone": "0712345678"}, 202).Into(t, &p)
	if p.Status != "PENDING" && p.Status != "SUCCESS" {
		t.Errorf("own phone: %+v", p)
	}
}

func TestQuery_LostCallbackProvisionalSuccessThenTheRealReceipt(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{DropCallbacks: 1, C2BAlso: true})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	if shown := k.payment(t, p.PaymentID); shown.Status != "PENDING" {
		t.Fatalf("payment %+v", shown)
	}
	var asked moneytest.ShownPayment
	k.Do(t, apitest.Request{Method: "POST", Path: "/payments/query", As: apitest.Admin,
		Body: map[string]any{"paymentId": p.PaymentID}}).Into(t, &asked)
	if asked.Status != "SUCCESS" || asked.ReceiptNumber != nil {
		t.Fatalf("asked %+v", asked)
	}
	k.Quiet(t)
	k.expectCredited(t, 1500, 1)
	number := k.Sim.Transactions()[0].ReceiptNumber
	if !k.Sim.Resend(number) || !k.Sim.Resend(*p.CheckoutRequestID) {
		t.Fatal("nothing to send again")
	}
	k.Quiet(t)
	k.expectCredited(t, 1500, 1)
	shown := k.payment(t, p.PaymentID)
	if shown.ReceiptNumber == nil || *shown.ReceiptNumber != number {
		t.Errorf("payment %+v, receipt %s", shown, number)
	}
}

func TestRecheck_PeriodicQueryFindsTheSuccess(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{DropCallbacks: 1})
	p := k.prompt(t, 300)
	k.Quiet(t)
	k.Clock.Advance(31 * 1e9)
	k.Until(t, "the re-check", func() bool { return k.payment(t, p.PaymentID).Status == "SUCCESS" })
	k.Quiet(t)
	k.expectCredited(t, 300, 1)
}

// The books and the provider agree in the end, whatever messages were lost, repeated or reordered on the way.
func TestStorm_TheBooksEqualTheProvidersTransactions(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{
		DuplicateCallbacks: 2, DropCallbacks: 0.4, LoseResponse: 0.3, ReorderCallbacks: true, C2BAlso: true,
		ErrorRate: 0.1,
	})
	var asked sync.WaitGroup
	payments := make([]string, 24)
	for n := range payments {
		asked.Go(func() {
			a := k.Do(t, apitest.Request{Method: "POST", Path: "/payments/initiate", As: apitest.Admin,
				Body: map[string]any{
					"subscriberId": k.Amina, "amount": 100 + n, "phone": fmt.Sprintf("07130000%02d", n),
				}})
			var p initiated
			a.Into(t, &p)
			payments[n] = p.PaymentID
		})
	}
	asked.Wait()
	k.Quiet(t)
	if err := k.Sim.SetFaults(provider.Faults{C2BAlso: true}); err != nil {
		t.Fatal(err)
	}
	for _, p := range payments {
		if p != "" {
			k.Do(t, apitest.Request{
				Method: "POST", Path: "/payments/query", As: apitest.Admin, Body: map[string]any{"paymentId": p},
			})
		}
	}
	k.Quiet(t)
	var sum int64
	moved := k.Sim.Transactions()
	for _, tx := range moved {
		sum += tx.Amount.Minor / 100
		k.Sim.Resend(tx.ReceiptNumber)
	}
	for _, p := range k.Sim.Prompts() {
		k.Sim.Resend(p.CheckoutRequestID)
	}
	k.Quiet(t)
	k.expectCredited(t, sum, len(moved))
	if list := k.receipts(t, apitest.Acme, apitest.Admin, "?state=suspense"); len(list) != 0 {
		t.Errorf("in suspense: %+v", list)
	}
	if list := k.receipts(t, apitest.Domain, apitest.Super, ""); len(list) != 0 {
		t.Errorf("of no organization: %+v", list)
	}
}
