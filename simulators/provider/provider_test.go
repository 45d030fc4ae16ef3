package provider_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestToken_NewOneInvalidatesThePrevious(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	old := k.token
	other := k.newToken("other", "secret") // tokens of other credentials stay valid
	k.token = k.newToken("key", "secret")
	status, answer, _ := k.do(http.MethodPost, "/mpesa/stkpush/v1/processrequest", old, k.pushBody(nil))
	if status != http.StatusUnauthorized || answer["errorCode"] != "404.001.03" {
		t.Errorf("old token: %d %v", status, answer)
	}
	for _, token := range []string{k.token, other} {
		if status, answer, _ := k.do(http.MethodPost, "/stkpush/v1/processrequest", token,
			k.pushBody(nil)); status != http.StatusOK {
			t.Errorf("valid token: %d %v", status, answer)
		}
	}
	k.clock.Advance(time.Hour)
	if status, _, _ := k.do(http.MethodPost, "/stkpush/v1/processrequest", k.token,
		k.pushBody(nil)); status != http.StatusUnauthorized {
		t.Errorf("token of an hour ago: %d", status)
	}
}

func TestToken_InvalidateTokensActsOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"invalidateTokens": true})
	if status, _, _ := k.do(http.MethodPost, "/stkpush/v1/processrequest", k.token,
		k.pushBody(nil)); status != http.StatusUnauthorized {
		t.Errorf("invalidated token: %d", status)
	}
	k.token = k.newToken("key", "secret")
	k.push(nil)
}

func TestCredentials_OnlyKnownSetsOnceOneIsKnown(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/credentials", map[string]any{
		"key": "k", "secret": "s", "shortcode": shortCode, "passkey": passkey,
	})
	for _, wrong := range [][2]string{{"k", "other"}, {"unknown", "s"}} {
		if token := k.newToken(wrong[0], wrong[1]); token != "" {
			t.Errorf("%v got a token", wrong)
		}
	}
	k.token = k.newToken("k", "s")
	k.push(nil)
	for name, changes := range map[string]map[string]any{
		"other passkey":   {"Password": password(shortCode, "guess")},
		"other shortcode": {"BusinessShortCode": "600999", "Password": password("600999", passkey)},
	} {
		if status, answer, _ := k.do(http.MethodPost, "/stkpush/v1/processrequest", k.token,
			k.pushBody(changes)); status != http.StatusInternalServerError {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}

func TestPrompt_RefusesBadRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	for name, changes := range map[string]map[string]any{
		"nothing":            {"Amount": 0},
		"too much":           {"Amount": 250_001},
		"a fraction":         {"Amount": "10.50"},
		"plus in phone":      {"PartyA": "+254700000001"},
		"local phone":        {"PartyA": "0700000001"},
		"other phone":        {"PhoneNumber": "254700000002"},
		"long reference":     {"AccountReference": "ACME-00000001"},
		"no reference":       {"AccountReference": ""},
		"long description":   {"TransactionDesc": "Internet March"},
		"bad timestamp":      {"Timestamp": "2026-03-02"},
		"password of others": {"Password": password("600101", passkey)},
		"password not coded": {"Password": "%%%"},
		"address elsewhere":  {"CallBackURL": "http://192.0.2.1/stk"},
		"name elsewhere":     {"CallBackURL": "http://example.com/stk"},
		"transaction type":   {"TransactionType": "Salary"},
	} {
		status, answer, _ := k.do(http.MethodPost, "/mpesa/stkpush/v1/processrequest", k.token, k.pushBody(changes))
		if status != http.StatusBadRequest || answer["errorCode"] == nil || answer["requestId"] == nil ||
			answer["errorMessage"] == nil {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	if got := len(k.Prompts()); got != 0 {
		t.Errorf("%d refused prompts were accepted", got)
	}
	for _, limit := range []int{1, 250_000} {
		k.push(map[string]any{"Amount": limit})
	}
}

func TestPrompt_PaidMovesMoneyAndTellsTwice(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.register("Completed")
	id := k.push(nil)
	prompts, confirmations := k.messages("/stk"), k.messages("/confirmation")
	if len(prompts) != 1 || len(confirmations) != 1 || len(k.messages("/validation")) != 0 {
		t.Fatalf("%d prompt callbacks, %d confirmations", len(prompts), len(confirmations))
	}
	moved := k.Transactions()
	if len(moved) != 1 {
		t.Fatalf("transactions: %v", moved)
	}
	receipt := moved[0].ReceiptNumber
	if !regexp.MustCompile(`^[A-Z][A-Z0-9]{9}$`).MatchString(receipt) {
		t.Errorf("receipt number %q", receipt)
	}
	if got, _ := metadata(prompts[0], "MpesaReceiptNumber"); got != receipt {
		t.Errorf("prompt callback has receipt %v", got)
	}
	if value, found := metadata(prompts[0], "Balance"); !found || value != nil {
		t.Errorf("Balance is %v, %v", value, found)
	}
	want := map[string]any{
		"TransactionType": "Pay Bill", "TransID": receipt, "TransTime": stamp, "TransAmount": "150.00",
		"BusinessShortCode": shortCode, "BillRefNumber": "ACME-0001", "InvoiceNumber": "",
		"OrgAccountBalance": "150.00", "ThirdPartyTransID": "", "MSISDN": payer, "FirstName": "CUSTOMER",
		"MiddleName": "", "LastName": "",
	}
	if diff := cmp.Diff(want, confirmations[0]); diff != "" {
		t.Error(diff)
	}
	text, _ := json.Marshal(moved)
	if diff := cmp.Diff(`[{"receiptNumber":"`+receipt+
		`","channel":"stk","shortCode":"600100","amount":150.00,"msisdn":"254700000001",`+
		`"accountReference":"ACME-0001","checkoutRequestId":"`+id+`","at":"2026-03-02T09:00:00Z","state":"completed"}]`,
		string(text)); diff != "" {
		t.Error(diff)
	}
	if got := k.query(id); got != "0" {
		t.Errorf("query says %s", got)
	}
}

func TestPrompt_ReceiptNamesAndAmountFormsAlternate(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	seen := map[string]int{}
	for range 4 {
		k.push(nil)
		k.messages("/stk")
	}
	for _, m := range k.messages("/stk") {
		for _, name := range []string{"MpesaReceiptNumber", "MobileMoneyReceiptNumber"} {
			if _, found := metadata(m, name); found {
				seen[name]++
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"MpesaReceiptNumber": 2, "MobileMoneyReceiptNumber": 2}, seen); diff != "" {
		t.Error(diff)
	}
	fixed := newKit(t, provider.Config{ReceiptItem: "MobileMoneyReceiptNumber"})
	fixed.push(nil)
	if _, found := metadata(fixed.messages("/stk")[0], "MobileMoneyReceiptNumber"); !found {
		t.Error("the configured name is not used")
	}
}

func TestPayer_Behaviours(t *testing.T) {
	t.Parallel()
	for behaviour, code := range map[string]float64{
		"pay": 0, "cancel": 1032, "wrong_pin": 2001, "insufficient": 1, "no_answer": 1037, "busy": 1001,
		"expired": 1019, "undeliverable": 1025, "internal": 17, "not_permitted": 2028, "pin_locked": 8006,
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, provider.Config{})
			k.must(http.StatusOK, http.MethodPut, "/sim/phones/"+payer, map[string]any{
				"behaviour": behaviour, "delayMs": 1,
			})
			id := k.push(nil)
			if diff := cmp.Diff([]float64{code}, results(k.messages("/stk"))); diff != "" {
				t.Error(diff)
			}
			if got := k.query(id); got != strings.TrimSuffix(jsonText(code), ".0") {
				t.Errorf("query says %s", got)
			}
			if moved := len(k.Transactions()); moved == 1 != (code == 0) {
				t.Errorf("%d transactions", moved)
			}
		})
	}
}

// jsonText formats a number as JSON does.
func jsonText(n float64) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestPayer_SilentStaysOpenWithoutVerdict(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/phones/default", map[string]any{"behaviour": "silent"})
	id := k.push(nil)
	if got := []string{k.query(id), k.query(id), k.query(id)}; !cmp.Equal(got, []string{
		"4999", "500.001.1001", "4999",
	}) {
		t.Errorf("queries say %v", got)
	}
	if len(k.messages("/stk")) != 0 || len(k.Transactions()) != 0 {
		t.Error("something happened")
	}
	if got := k.query("ws_CO_unknown"); got != "400.002.02" {
		t.Errorf("unknown prompt: %s", got)
	}
}

func TestPayer_LateSuccessAfterFailure(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/phones/0700000001", map[string]any{
		"behaviour": "late_success", "delayMs": 1, "lateMs": 20, "firstResultCode": 1032,
	})
	id := k.push(nil)
	codes := results(k.messages("/stk"))
	slices.Sort(codes) // requests that are 20 ms apart can come in any order
	if diff := cmp.Diff([]float64{0, 1032}, codes); diff != "" {
		t.Error(diff)
	}
	if got := k.query(id); got != "0" || len(k.Transactions()) != 1 { // the success was the last verdict
		t.Errorf("query says %s, transactions %v", got, k.Transactions())
	}
}

func TestControl_RefusesNonsense(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPut, "/sim/phones/070000000", map[string]any{"behaviour": "pay"}},
		{http.MethodPut, "/sim/phones/" + payer, map[string]any{"behaviour": "steal"}},
		{http.MethodPut, "/sim/phones/" + payer, map[string]any{"behaviour": "pay", "delayMs": -1}},
		{http.MethodPut, "/sim/faults", map[string]any{"errorRate": 2}},
		{http.MethodPut, "/sim/faults", map[string]any{"dropCallback": 1}},
		{http.MethodPut, "/sim/credentials", map[string]any{"key": "k"}},
		{http.MethodPost, "/sim/paybill", map[string]any{"shortCode": shortCode, "msisdn": payer, "amount": 0}},
		{http.MethodPost, "/sim/paybill", map[string]any{"shortCode": shortCode, "msisdn": payer, "amount": 1.005}},
	} {
		k.must(http.StatusBadRequest, c.method, c.path, c.body)
	}
}
