package paymentsapi_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// shownReceipt has the fields of a receipt that the tests compare.
type shownReceipt struct {
	ID           string  `json:"id"`
	OrgID        *string `json:"orgId"`
	State        string  `json:"state"`
	Amount       float64 `json:"amount"`
	Disputed     bool    `json:"disputed"`
	SubscriberID *string `json:"subscriberId"`
	CreditedTo   *string `json:"creditedTo"`
	MatchedBy    *string `json:"matchedBy"`
	Sightings    []struct {
		Kind     string `json:"kind"`
		Verified bool   `json:"verified"`
	} `json:"sightings"`
	Suggestions []struct {
		SubscriberID string `json:"subscriberId"`
		By           string `json:"by"`
		PaymentID    string `json:"paymentId"`
		OrgID        string `json:"orgId"`
		Credited     bool   `json:"credited"`
	} `json:"suggestions"`
}

// receipts lists the receipts that a host shows to a caller.
func (k *moneyKit) receipts(t *testing.T, host, as, query string) []shownReceipt {
	t.Helper()
	var page struct{ Data []shownReceipt }
	a := k.Do(t, apitest.Request{Host: host, Path: "/receipts" + query, As: as})
	if a.Status != http.StatusOK {
		t.Fatalf("list: %d %s", a.Status, a.Body)
	}
	a.Into(t, &page)
	return page.Data
}

// receipt reads one of Acme's receipts by its id.
func (k *moneyKit) receipt(t *testing.T, receipt string) shownReceipt {
	t.Helper()
	var out shownReceipt
	k.Do(t, apitest.Request{Path: "/receipts/" + receipt, As: apitest.Support}).Into(t, &out)
	return out
}

// confirmationBody is a paybill payment in the form in which the provider reports it.
func confirmationBody(number, shortcode, reference string, amount string) string {
	return fmt.Sprintf(`{"TransactionType":"Pay Bill","TransID":%q,"TransTime":"20260302120000","TransAmount":%q,
		"BusinessShortCode":%q,"BillRefNumber":%q,"MSISDN":"2547*****126","FirstName":"JANE"}`,
		number, amount, shortcode, reference)
}

// The addresses of the provider's callbacks without a token.
const (
	bareConfirmation = "/webhooks/mobile-money/c2b/confirmation"
	bareValidation   = "/webhooks/mobile-money/c2b/validation"
	barePrompt       = "/webhooks/mobile-money/stk"
)

func TestPaybill_IsMatchedInTheOrderOfTheRules(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	stranger := "254733000000"
	for reference, by := range map[string]string{
		commands.AccountNumber(1_000_000):             "account_number",
		" " + commands.AccountNumber(1_000_000) + " ": "account_number",
		"isp0 " + commands.AccountNumber(1_000_000):   "prefixed_account",
		"0712345678": "phone",
	} {
		before, times := k.Credited(t, k.Amina)
		r := k.Paybill(t, moneytest.PlatformShortcode, stranger, reference, 10)
		k.expectCredited(t, before+10, times+1)
		shown := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String())
		if shown.MatchedBy == nil || *shown.MatchedBy != by || len(shown.Sightings) != 1 ||
			!shown.Sightings[0].Verified {
			t.Errorf("%q: %+v", reference, shown)
		}
	}
	before, times := k.Credited(t, k.Amina)
	k.Paybill(t, moneytest.PlatformShortcode, "254712345678", "no idea", 10) // by the payer's own phone
	k.expectCredited(t, before+10, times+1)
	if sum, _ := k.Credited(t, k.Brian); sum != 0 {
		t.Errorf("another organization's subscriber got %d", sum)
	}
}

func TestSharedPaybill_UnmatchedMoneyIsSeenByThePlatformOnlyUntilAssigned(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	r := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", "10000", 250)
	id := commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String()
	if list := k.receipts(t, apitest.Acme, apitest.Admin, "?state=suspense"); len(list) != 0 {
		t.Fatalf("an organization sees %+v", list)
	}
	if a := k.Do(t, apitest.Request{Path: "/receipts/" + id, As: apitest.Admin}); a.Status != http.StatusNotFound {
		t.Errorf("read: %d", a.Status)
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/attribute", map[string]any{"subscriberId": k.Amina}, 404)
	if list := k.receipts(t, apitest.Domain, apitest.Super, "?state=suspense"); len(list) != 1 || list[0].ID != id {
		t.Fatalf("the platform sees %+v", list)
	}
	k.Post(t, apitest.Domain, apitest.Super, "/receipts/"+id+"/assign", map[string]any{"orgId": k.Amina}, 422)
	k.Post(t, apitest.Domain, apitest.Super, "/receipts/"+id+"/assign", map[string]any{"orgId": k.Org}, 200)
	shown := k.receipt(t, id)
	if shown.State != "suspense" || len(shown.Suggestions) == 0 ||
		shown.Suggestions[0].SubscriberID != k.Amina.String() {
		t.Errorf("assigned: %+v", shown)
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/attribute", map[string]any{"subscriberId": k.Brian}, 404)
	k.Post(t, apitest.Acme, apitest.Support, "/receipts/"+id+"/attribute", map[string]any{"subscriberId": k.Amina}, 403)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/attribute", map[string]any{"subscriberId": k.Amina}, 200)
	k.Quiet(t)
	k.expectCredited(t, 250, 1)
}

func TestMistakes_ReversedAndReattributedMoneyLeavesTheAccount(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	id := commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String()
	k.expectCredited(t, 400, 1)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/reverse", map[string]any{}, 400)
	k.Post(t, apitest.Other, apitest.OtherAdmin, "/receipts/"+id+"/reverse", map[string]any{"reason": "mine"}, 404)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/reattribute",
		map[string]any{"subscriberId": k.Brian, "reason": "x"}, 404)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/reverse", map[string]any{"reason": "paid by mistake"}, 200)
	k.Quiet(t)
	k.expectCredited(t, 0, 1)
	if shown := k.receipt(t, id); shown.State != "reversed" {
		t.Errorf("receipt %+v", shown)
	}
}

func TestMistakes_ReattributedThereAndBack(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	id := commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String()
	move := func(to any) {
		t.Helper()
		k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+id+"/reattribute",
			map[string]any{"subscriberId": to, "reason": "typing error"}, 200)
		k.Quiet(t)
	}
	move(k.Chege)
	k.expectCredited(t, 0, 1)
	if sum, _ := k.Credited(t, k.Chege); sum != 400 {
		t.Errorf("the neighbour has %d", sum)
	}
	move(k.Amina)
	k.expectCredited(t, 400, 2)
	if sum, _ := k.Credited(t, k.Chege); sum != 0 {
		t.Errorf("the neighbour still has %d", sum)
	}
}

// Every move is told, also one that was taken back.
func TestReattribute_TellsFromWhomToWhomAndByWhom(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	k.Named(t, apitest.Admin, "Akinyi")
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	receipt := "/receipts/" + commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String()
	k.expectCredited(t, 400, 1)
	type named struct{ Name *string }
	type move struct {
		MovedFrom, MovedTo string
		From, To, By       named
	}
	moves := func() []move {
		t.Helper()
		var shown struct{ Moves []move }
		k.Do(t, apitest.Request{Path: receipt, As: apitest.Support}).Into(t, &shown)
		return shown.Moves
	}
	if got := moves(); got == nil || len(got) != 0 {
		t.Errorf("before any move: %+v", got)
	}
	for _, to := range []any{k.Chege, k.Amina} {
		k.Post(t, apitest.Acme, apitest.Admin, receipt+"/reattribute",
			map[string]any{"subscriberId": to, "reason": "typing error"}, 200)
		k.Quiet(t)
	}
	got := moves()
	if len(got) != 2 || got[0].MovedFrom != k.Amina.String() || got[0].MovedTo != k.Chege.String() ||
		got[1].MovedFrom != k.Chege.String() || got[1].MovedTo != k.Amina.String() {
		t.Fatalf("moves %+v", got)
	}
	m := got[0]
	if m.From.Name == nil || m.To.Name == nil || m.By.Name == nil {
		t.Fatalf("the first move lacks a name: %+v", m)
	}
	if *m.To.Name != "Chege" || *m.By.Name != "Akinyi Doe" || *m.From.Name == *m.To.Name {
		t.Errorf("moved from %s to %s by %s", *m.From.Name, *m.To.Name, *m.By.Name)
	}
}

func TestCash_ReferenceIsUniqueAndNoMobileMoney(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	body := func(reference string) map[string]any {
		return map[string]any{"subscriberId": k.Amina, "amount": 120.5, "reference": reference}
	}
	var p moneytest.ShownPayment
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash", body("Book 17/3"), 201).Into(t, &p)
	if p.Status != "SUCCESS" || p.Gateway != "cash" || p.ReceiptID == nil {
		t.Errorf("payment %+v", p)
	}
	var repeat struct {
		Code    string
		Receipt struct {
			ID, ReceiptNumber string
			Subscriber        struct{ ID, Name, AccountNumber string }
		}
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash", body("Book 17/3"), 409).Into(t, &repeat)
	if r := repeat.Receipt; repeat.Code != "reference_used" || r.ID != *p.ReceiptID ||
		r.ReceiptNumber != "Book 17/3" || r.Subscriber.ID != k.Amina.String() || r.Subscriber.Name == "" {
		t.Errorf("repeat: %+v", repeat)
	}
	if code := k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash", body("SJK4X7Q2P1"),
		409).Code(); code != "looks_like_mobile_money" {
		t.Errorf("receipt: %s", code)
	}
	k.Post(t, apitest.Acme, apitest.Support, "/payments/cash", body("Book 18"), 403)
	k.Quiet(t)
	if sum, n := k.Account(t, k.Amina).Credited,
		len(k.receipts(t, apitest.Acme, apitest.Support, "?state=matched")); sum != 1 || n != 1 {
		t.Errorf("%d credited, %d shown", sum, n)
	}
}

func TestForgedCallbacks_NeverCreditInLiveMode(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true})
	k.behave(t, "silent", provider.Faults{})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	forged := `{"Body":{"stkCallback":{"MerchantRequestID":"m","CheckoutRequestID":"` + *p.CheckoutRequestID +
		`","ResultCode":0,"ResultDesc":"ok",
		"CallbackMetadata":{"Item":[{"Name":"Amount","Value":1500},
			{"Name":"MpesaReceiptNumber","Value":"SJK4X7Q2P9"}]}}}}`
	for _, path := range []string{barePrompt, barePrompt + "/" + strings.Repeat("x", 43)} {
		k.Post(t, apitest.Unknown, "", path, forged, 200)
	}
	k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P8", moneytest.PlatformShortcode, commands.AccountNumber(1_000_000), "5000"), 200)
	k.Quiet(t)
	k.expectCredited(t, 0, 0)
	shown := k.payment(t, p.PaymentID)
	if shown.Status != "PENDING" || shown.Attempts == 0 {
		t.Errorf("payment %+v: want it asked about", shown)
	}
	var kept int
	err := k.Core.DB.Owner.QueryRow(t.Context(),
		`select count(*) from `+k.Core.DB.Namespace.Schema("vault")+`.callbacks where not verified`).Scan(&kept)
	if err != nil || kept != 3 {
		t.Errorf("%d kept, %v", kept, err)
	}
	// the real provider calls the addresses with tokens
	k.Paybill(t, moneytest.PlatformShortcode, "254733000000", commands.AccountNumber(1_000_000), 90)
	k.behave(t, "pay", provider.Faults{})
	k.prompt(t, 10)
	k.Quiet(t)
	k.expectCredited(t, 100, 2)
}

func TestConfirmation_OnAShortcodeOfNobodyHereIsNobodysMoney(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true, Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	account := commands.AccountNumber(1_000_000)
	k.Post(t, apitest.Unknown, "", bareConfirmation, confirmationBody("SJK4X7Q2P7", "111111", account, "777"), 200)
	k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P6", moneytest.PlatformShortcode, account, "10"),
		200)
	k.Quiet(t)
	k.expectCredited(t, 10, 1)
	if list := k.receipts(t, apitest.Domain, apitest.Super, "?state=suspense"); len(list) != 0 {
		t.Errorf("the platform sees %+v", list)
	}
}

func TestMoney_IsInTheBooksWhenItsWriteIsAnswered(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	statement := billingviews.StatementQuery{Views: k.Views}
	balance := func() int64 {
		t.Helper()
		rows, err := statement.Lines(t.Context(), k.Org, k.Amina, billingviews.StatementKey{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			return 0
		}
		return rows[0].BalanceMinor
	}
	for n := range 5 {
		before := balance()
		body := map[string]any{"subscriberId": k.Amina, "amount": 5, "reference": fmt.Sprintf("book %d", n)}
		k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash", body, 201)
		if have := balance(); have != before-500 {
			t.Errorf("balance %d after 5 shillings in cash on %d", have, before)
		}
	}
	receipt := commands.CashReceiptID(k.Org, "book 1").String()
	before := balance()
	var shown shownReceipt
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt+"/reverse", map[string]any{"reason": "miscounted"},
		200).Into(t, &shown)
	if have := balance(); have != before+500 || shown.State != "reversed" {
		t.Errorf("balance %d after a reversal on %d, receipt %+v", have, before, shown)
	}
}

func TestSupport_ReadsPaymentsAndAsksForNone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{})
	p := k.prompt(t, 10)
	k.Post(t, apitest.Acme, apitest.Support, "/payments/initiate", map[string]any{"subscriberId": k.Amina, "amount": 7},
		403)
	k.Post(t, apitest.Acme, apitest.Support, "/payments/query", map[string]any{"paymentId": p.PaymentID}, 403)
	if a := k.Do(t, apitest.Request{Path: "/payments/" + p.PaymentID, As: apitest.Support}); a.Status != http.StatusOK {
		t.Errorf("support reads: %d", a.Status)
	}
	k.Quiet(t)
	k.expectCredited(t, 10, 1)
}

func TestWebhook_DisallowedSourceIs403(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{
		Live: true, Allowed: []netip.Prefix{netip.MustParsePrefix("196.201.214.0/24")},
	})
	if code := k.Post(t, apitest.Unknown, "", barePrompt, `{}`, 403).Code(); code != "source_not_allowed" {
		t.Error(code)
	}
}

func TestWebhook_OverTheLimitIsStoredThenRefused(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Limit: 1})
	account := commands.AccountNumber(1_000_000)
	k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P1", moneytest.PlatformShortcode, account, "100"),
		200)
	a := k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P2", moneytest.PlatformShortcode, account, "100"), 429)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	k.Quiet(t)
	k.expectCredited(t, 200, 2)
}

func TestWebhook_TheLimitCountsEachGatewayAtBareAddressesToo(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Limit: 1})
	k.behave(t, "silent", provider.Faults{})
	checkout := *k.prompt(t, 10).CheckoutRequestID
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	paybill := func(n int, shortcode string) string {
		return confirmationBody(fmt.Sprintf("SJK4X7Q2P%d", n), shortcode, "x", "10")
	}
	prompt := func(checkout string) string {
		return `{"Body":{"stkCallback":{"CheckoutRequestID":"` + checkout + `","ResultCode":1032,"ResultDesc":"no"}}}`
	}
	bill := `{"transactionId":"SJK4X7Q2P9","paidAmount":"7","shortCode":"600777","accountReference":"x"}`
	for n, c := range []struct {
		path, body string
		status     int
	}{
		{bareConfirmation, paybill(0, moneytest.PlatformShortcode), 200},
		{bareConfirmation, paybill(1, moneytest.PlatformShortcode), 429},
		{bareConfirmation, paybill(2, "600777"), 200}, // another gateway
		{bareConfirmation, paybill(3, "600777"), 429},
		{bareConfirmation, paybill(4, "999001"), 200}, // invented shortcodes share one limit
		{bareConfirmation, paybill(5, "999002"), 429},
		{"/webhooks/billmanager/payment", bill, 200}, // another kind
		{"/webhooks/billmanager/payment", bill, 429},
		{barePrompt, prompt("ws_unknown"), 200},
		{barePrompt, prompt("ws_invented"), 429},
		{barePrompt, prompt(checkout), 200}, // of the shortcode of the known prompt
		{barePrompt, prompt(checkout), 429},
	} {
		if a := k.Do(t, apitest.Request{Method: "POST", Host: apitest.Unknown, Path: c.path, Body: c.body}); a.Status !=
			c.status {
			t.Errorf("%d: want %d, have %d %s", n, c.status, a.Status, a.Body)
		}
	}
}

func TestWebhook_MalformedBytesAre400ButKept(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Post(t, apitest.Unknown, "", barePrompt, `{"Body":`, 400)
	a := k.Post(t, apitest.Unknown, "", barePrompt, `{"unexpected":true}`, 200)
	if !strings.Contains(string(a.Body), `"ResultCode":0,"ResultDesc":"Accepted"`) {
		t.Errorf("answer %s", a.Body)
	}
	k.Quiet(t)
	var kept int
	err := k.Core.DB.Owner.QueryRow(t.Context(),
		`select count(*) from `+k.Core.DB.Namespace.Schema("vault")+`.callbacks`).Scan(&kept)
	if err != nil || kept != 2 {
		t.Errorf("%d kept, %v", kept, err)
	}
}

func TestBillManager_TellsOfTheSameMoneyAsThePaybill(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	account := commands.AccountNumber(1_000_000)
	told := fmt.Sprintf(`{"transactionId":"SJK4X7Q2P5","paidAmount":"75","msisdn":254733000000,
		"dateCreated":"2026-03-02","accountReference":%q,"shortCode":%s}`,
		account, moneytest.PlatformShortcode)
	a := k.Post(t, apitest.Unknown, "", "/webhooks/billmanager/payment", told, 200)
	if !strings.Contains(string(a.Body), `"rescode":"200"`) {
		t.Errorf("answer %s", a.Body)
	}
	k.Quiet(t)
	k.Post(t, apitest.Unknown, "", bareConfirmation,
		confirmationBody("SJK4X7Q2P5", moneytest.PlatformShortcode, account, "75.00"), 200)
	k.Quiet(t)
	k.expectCredited(t, 75, 1)
	r := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P5").String())
	if len(r.Sightings) != 2 || r.Disputed {
		t.Errorf("receipt %+v", r)
	}
}

func TestLogs_NeverHoldACallbackToken(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Post(t, apitest.Unknown, "", barePrompt+"/this-is-a-secret-token", `{}`, 200)
	if strings.Contains(k.Log.String(), "this-is-a-secret-token") {
		t.Error("the log holds a token")
	}
}

func TestReceipts_TheZeroIDIsNothingThatAnybodyHas(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	zero := "/receipts/" + uuid.Nil.String()
	for path, body := range map[string]map[string]any{
		"":             nil,
		"/attribute":   {"subscriberId": k.Amina},
		"/reattribute": {"subscriberId": k.Amina, "reason": "hers"},
		"/reverse":     {"reason": "not paid"},
	} {
		request := apitest.Request{Path: zero + path, As: apitest.Admin}
		if body != nil {
			request.Method, request.Body = "POST", body
		}
		if a := k.Do(t, request); a.Status != 404 || a.Code() != "receipt_not_found" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
