package paymentsapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestMistakes_AReasonThatTheAccountWouldRefuseMovesNothing(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	path := "/receipts/" + commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String()
	for _, reason := range []string{strings.Repeat("x", 501), "  "} {
		k.Post(t, apitest.Acme, apitest.Admin, path+"/reattribute",
			map[string]any{"subscriberId": k.Chege, "reason": reason}, 422)
		k.Post(t, apitest.Acme, apitest.Admin, path+"/reverse", map[string]any{"reason": reason}, 422)
	}
	k.Quiet(t)
	k.expectCredited(t, 400, 1)
	if sum, _ := k.Credited(t, k.Chege); sum != 0 {
		t.Errorf("the same money is on a second account: %d", sum)
	}
}

func TestPrompt_OverTheLimitStaysRefusedUnderTheSameKey(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "silent", provider.Faults{})
	for _, amount := range []int{10, 20, 30} {
		k.prompt(t, amount)
	}
	for n := range 3 {
		a := k.Do(t, apitest.Request{Method: "POST", Path: "/payments/initiate", As: apitest.Admin,
			Body: map[string]any{"subscriberId": k.Amina, "amount": 40}, Header: map[string]string{
				"Idempotency-Key": "again",
			}})
		if a.Status != http.StatusTooManyRequests {
			t.Errorf("try %d: %d %s", n, a.Status, a.Body)
		}
	}
	if n := len(k.Sim.Prompts()); n != 3 {
		t.Errorf("%d prompts", n)
	}
}

func TestCash_AmountsThatSumsCannotHoldAreRefused(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for n, amount := range []string{"92233720368547758.07", "10000000000.01"} {
		k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
			fmt.Sprintf(`{"subscriberId":%q,"amount":%s,"reference":"Book %d"}`, k.Amina, amount, n), 422)
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 10, "reference": "Book 3"}, 201)
	k.Quiet(t)
	k.expectCredited(t, 10, 1)
}

// hostileConfirmation is a paybill payment whose texts are not escaped: they may end their own JSON field.
func hostileConfirmation(number, at, amount, reference string) string {
	return `{"TransID":"` + number + `","TransTime":"` + at + `","TransAmount":"` + amount +
		`","BusinessShortCode":"600100","BillRefNumber":"` + reference + `"}`
}

func TestPaybill_HostileTextsAreKeptAndStopNothing(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	nasty := `\u0000\u0001\u202e\ud800` + strings.Repeat("é", 9000)
	const plain, far = "20260302120000", "90000000000000000"
	account := commands.AccountNumber(1_000_000)
	for n, body := range []string{
		hostileConfirmation("SJK4X7Q2A0", plain, "5", nasty+`","MSISDN":"`+nasty+`","FirstName":"`+nasty),
		hostileConfirmation("SJK4X7Q2A1", "00000101000000", "5", account),
		hostileConfirmation("SJK4X7Q2A2", "99991231235959", "5", account),
		hostileConfirmation("SJK4X7Q2A3", plain, far, account),
		hostileConfirmation("SJK4X7Q2A4", plain, far, account),
		hostileConfirmation("SJK4X7Q2A5", plain, "5", account),
	} {
		a := k.Do(t, apitest.Request{Method: "POST", Host: apitest.Unknown, Path: bareConfirmation, Body: body})
		if a.Status != 200 {
			t.Errorf("%d: %d %s", n, a.Status, a.Body)
		}
	}
	nastyPrompt := `{"Body":{"stkCallback":{"MerchantRequestID":"` + nasty +
		`","CheckoutRequestID":"ws_1","ResultCode":1,"ResultDesc":"` + nasty + `"}}}`
	k.Post(t, apitest.Unknown, "", barePrompt, nastyPrompt, 200)
	k.behave(t, "silent", provider.Faults{})
	p := k.prompt(t, 40)
	k.Post(t, apitest.Unknown, "", barePrompt, strings.Replace(nastyPrompt, "ws_1", *p.CheckoutRequestID, 1), 200)
	k.Until(t, "the verdict", func() bool { return k.payment(t, p.PaymentID).Status == "FAILED" })
	k.Until(t, "the money", func() bool { sum, _ := k.Credited(t, k.Amina); return sum == 15 })
	k.Until(t, "the receipt of no organization", func() bool {
		return len(k.receipts(t, apitest.Domain, apitest.Super, "?state=suspense")) == 1
	})
}

// paybillAddress is the path at which the provider confirms payments of a shortcode; org is zero for the platform's.
func (k *moneyKit) paybillAddress(t *testing.T, org id.Organization, environment, shortcode string) string {
	t.Helper()
	urls, err := paymentsjobs.Addresses{Prompt: k.URL(), Tokens: k.Vault.CallbackSecrets}.OfPaybill(t.Context(), org,
		environment, shortcode)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(urls.Confirmation, k.URL())
}

func TestSharedMoney_IsThatOfThePlatformsPaybillsAlone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true})
	mole, platform := id.New[id.Organization](), id.Organization{}
	tell := func(n int, org id.Organization, environment, shortcode string) {
		body := confirmationBody(fmt.Sprintf("SJK4X7Q2P%d", n), shortcode, commands.AccountNumber(1_000_000), "5000")
		k.Post(t, apitest.Unknown, "", k.paybillAddress(t, org, environment, shortcode), body, 200)
	}
	tell(0, mole, commands.EnvironmentSandbox, "600777") // a shortcode of which no proof was recorded
	tell(1, mole, commands.EnvironmentProduction, "600777")
	tell(2, platform, commands.EnvironmentProduction, "600101") // of the platform, but in the other environment
	k.Clock.Advance(3 * time.Minute)
	k.Quiet(t)
	k.expectCredited(t, 0, 0)
	if list := k.receipts(t, apitest.Domain, apitest.Super, "?state=suspense"); len(list) != 3 {
		t.Errorf("the platform sees %+v", list)
	}
	tell(3, platform, commands.EnvironmentSandbox, "600102") // a former paybill of the platform
	k.Quiet(t)
	k.expectCredited(t, 5000, 1)
}

func TestFormerShortcode_ItsOldTokenReachesNobodysCustomers(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true})
	if err := k.Sim.AddCredentials("acme-key", "right", "", ""); err != nil {
		t.Fatal(err)
	}
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	old := k.paybillAddress(t, k.Org, commands.EnvironmentSandbox, "600777")
	k.configure(t, apitest.Acme, apitest.Admin, map[string]any{"mode": "centralized"}, 200)
	k.Sim.DeleteURLs("600777")
	k.configure(t, apitest.Other, apitest.OtherAdmin, direct("600777", "right"), 200)
	for n, account := range []string{commands.AccountNumber(1_000_000), commands.AccountNumber(1_000_001)} {
		body := confirmationBody(fmt.Sprintf("SJK4X7Q2P%d", n), "600777", account, "5000")
		k.Post(t, apitest.Unknown, "", old, body, 200)
	}
	k.Quiet(t)
	k.expectCredited(t, 0, 0)
	if sum, _ := k.Credited(t, k.Brian); sum != 0 {
		t.Errorf("a customer of another organization got %d", sum)
	}
	if list := k.receipts(t, apitest.Domain, apitest.Super, "?state=suspense"); len(list) != 2 {
		t.Errorf("the platform sees %+v", list)
	}
}

func TestMistakes_MoneyThatTheAccountHasArchivedStaysWhereItIs(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	invoice := id.New[id.Invoice]()
	k.Run(t, commands.DraftInvoice{
		SubscriberID: k.Amina, OrgID: k.Org, InvoiceID: invoice, Currency: money.KES, Prefix: "ISP0",
		DueOn: calendar.On(time.Now(), time.UTC), Lines: []commands.LineInput{
			{Description: "Router", Quantity: "1", UnitPrice: money.Major(100, money.KES)},
		},
	}, k.Org)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 100, "reference": "Book 1"}, 201)
	k.Quiet(t)
	for n := range 1001 { // more than an account keeps after the second period of its stream
		k.Run(t, commands.CreditReceipt{
			SubscriberID: k.Amina, OrgID: k.Org, ReceiptID: id.New[id.Receipt](), Number: fmt.Sprint(n),
			Channel: commands.ChannelCash, Amount: money.Major(1, money.KES),
		}, k.Org)
	}
	path := "/receipts/" + commands.CashReceiptID(k.Org, "Book 1").String()
	for action, body := range map[string]map[string]any{
		"/reattribute": {"subscriberId": k.Chege, "reason": "typing error"}, "/reverse": {"reason": "typing error"},
	} {
		if code := k.Post(t, apitest.Acme, apitest.Admin, path+action, body, 409).Code(); code != "receipt_archived" {
			t.Errorf("%s: %s", action, code)
		}
	}
	k.Quiet(t)
	if sum, _ := k.Credited(t, k.Chege); sum != 0 {
		t.Errorf("the same money is on a second account: %d", sum)
	}
}
