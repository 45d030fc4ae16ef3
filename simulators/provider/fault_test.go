package provider_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestFaults_DuplicateCallbacks(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.register("Completed")
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"duplicateCallbacks": 2})
	k.push(nil)
	if got, also := len(k.messages("/stk")), len(k.messages("/confirmation")); got != 3 || also != 3 {
		t.Errorf("%d prompt callbacks, %d confirmations", got, also)
	}
	if got := len(k.Transactions()); got != 1 {
		t.Errorf("%d transactions", got)
	}
}

func TestFaults_DroppedCallbacksLoseNoMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.register("Completed")
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"dropCallbacks": 1})
	id := k.push(nil)
	if len(k.messages("/stk")) != 0 || len(k.messages("/confirmation")) != 0 {
		t.Error("a dropped callback arrived")
	}
	if got := k.query(id); got != "0" || len(k.Transactions()) != 1 {
		t.Errorf("query says %s, transactions %v", got, k.Transactions())
	}
	k.must(http.StatusAccepted, http.MethodPost, "/sim/callbacks/"+id+"/resend", nil)
	k.must(http.StatusAccepted, http.MethodPost, "/sim/callbacks/"+k.Transactions()[0].ReceiptNumber+"/resend", nil)
	if got, also := len(k.messages("/stk")), len(k.messages("/confirmation")); got != 1 || also != 1 {
		t.Errorf("%d prompt callbacks, %d confirmations after resending", got, also)
	}
	k.must(http.StatusNotFound, http.MethodPost, "/sim/callbacks/unknown/resend", nil)
}

func TestFaults_LateCallbacksComeAfterTheQueryKnows(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"lateCallbacksMs": 3_600_000})
	id := k.push(nil)
	for k.query(id) != "0" {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.received); n != 0 {
		t.Errorf("%d callbacks, want none for an hour", n)
	}
}

func TestFaults_LateResponseAsksTheHandsetAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"lateResponseMs": 200})
	id := k.push(nil)
	if sent := k.Prompts(); len(sent) != 1 || sent[0].CheckoutRequestID != id || len(k.messages("/stk")) != 1 {
		t.Errorf("prompts %v", sent)
	}
}

func TestEnvironments_TwoOfThemGiveOutTheSameReceiptNumber(t *testing.T) {
	t.Parallel()
	sandbox, production := newKit(t, provider.Config{Seed: 5}), newKit(t, provider.Config{Seed: 5})
	var numbers []string
	for _, k := range []*kit{sandbox, production} {
		r, err := k.Pay(t.Context(), provider.Paybill{
			ShortCode: shortCode, MSISDN: payer, Amount: provider.Amount{Amount: money.Major(5, money.KES)},
		})
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, r.ReceiptNumber)
	}
	if numbers[0] != numbers[1] || len(sandbox.Transactions()) != 1 || len(production.Transactions()) != 1 {
		t.Errorf("numbers %v", numbers)
	}
	forced, err := sandbox.Pay(t.Context(), provider.Paybill{
		ShortCode: "600200", MSISDN: payer, Amount: provider.Amount{Amount: money.Major(7, money.KES)},
		ReceiptNumber: numbers[0],
	})
	if err != nil || forced.ReceiptNumber != numbers[0] {
		t.Errorf("forced %+v, %v", forced, err)
	}
}

func TestFaults_CallbackBeforeResponse(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{CallbackDelay: time.Hour})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"callbackBeforeResponse": true})
	k.push(nil)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.received) != 1 {
		t.Errorf("%d callbacks before the answer", len(k.received))
	}
}

func TestFaults_ReorderedCallbacks(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/phones/"+payer, map[string]any{"behaviour": "late_success"})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"reorderCallbacks": true})
	k.push(nil)
	if diff := cmp.Diff([]float64{0, 1037}, results(k.messages("/stk"))); diff != "" {
		t.Error(diff)
	}
}

func TestFaults_LostResponseKeepsThePrompt(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"loseResponse": 1})
	if status, answer, err := k.do(http.MethodPost, "/mpesa/stkpush/v1/processrequest", k.token,
		k.pushBody(nil)); err == nil {
		t.Fatalf("an answer came: %d %v", status, answer)
	}
	if got := results(k.messages("/stk")); len(got) != 1 || len(k.Transactions()) != 1 {
		t.Errorf("callbacks %v, transactions %v", got, k.Transactions())
	}
}

func TestFaults_DownAndErrorRateDoNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"down": true})
	if status, _, err := k.do(http.MethodPost, "/mpesa/stkpush/v1/processrequest", k.token,
		k.pushBody(nil)); err == nil {
		t.Errorf("down, but status %d", status)
	}
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"errorRate": 1})
	status, answer, err := k.do(http.MethodPost, "/mpesa/stkpush/v1/processrequest", k.token, k.pushBody(nil))
	if err != nil || status != http.StatusServiceUnavailable || answer["errorCode"] != nil {
		t.Errorf("error rate 1: %d %v %v", status, answer, err)
	}
	if len(k.Prompts()) != 0 {
		t.Error("a prompt was accepted")
	}
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{})
	k.push(nil)
}

func TestFaults_Latency(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"latencyMs": 60_000})
	k.http.Timeout = 20 * time.Millisecond
	if _, _, err := k.do(http.MethodPost, "/mpesa/stkpush/v1/processrequest", k.token, k.pushBody(nil)); err == nil {
		t.Error("a slow provider answered at once")
	}
}

func TestPaybill_ValidationThenConfirmation(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.register("Completed")
	k.must(http.StatusOK, http.MethodPut, "/sim/faults", map[string]any{"maskMsisdn": true})
	k.validate = func(message) any {
		return map[string]any{"ResultCode": "0", "ResultDesc": "Accepted", "ThirdPartyTransID": "tp-1"}
	}
	result := k.must(http.StatusOK, http.MethodPost, "/sim/paybill", map[string]any{
		"shortCode": shortCode, "msisdn": payer, "amount": 99.5, "billRefNumber": " acme-0001",
	})
	asked, told := k.messages("/validation"), k.messages("/confirmation")
	if len(asked) != 1 || len(told) != 1 {
		t.Fatalf("%d validations, %d confirmations", len(asked), len(told))
	}
	for name, want := range map[string]any{
		"TransID": result["receiptNumber"], "TransAmount": "99.50", "BillRefNumber": " acme-0001",
		"MSISDN": "2547*****001", "ThirdPartyTransID": "tp-1",
	} {
		if told[0][name] != want {
			t.Errorf("%s is %v, want %v", name, told[0][name], want)
		}
	}
	if asked[0]["TransID"] != told[0]["TransID"] {
		t.Error("validation and confirmation name different receipts")
	}
	if got := k.Balance(shortCode); got != money.Of(9950, money.KES) {
		t.Errorf("balance %v", got)
	}
}

func TestPaybill_RejectedOrUnreachableValidation(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.register("Cancelled")
	pay := map[string]any{"shortCode": shortCode, "msisdn": payer, "amount": 100, "billRefNumber": "x"}
	k.validate = func(message) any { return map[string]any{"ResultCode": "C2B00012", "ResultDesc": "Rejected"} }
	if got := k.must(http.StatusOK, http.MethodPost, "/sim/paybill", pay); got["state"] != "rejected" ||
		got["resultCode"] != "C2B00012" {
		t.Errorf("rejected: %v", got)
	}
	k.validate = func(message) any { return "unreadable" }
	if got := k.must(http.StatusOK, http.MethodPost, "/sim/paybill", pay); got["state"] != "cancelled" {
		t.Errorf("unreachable, cancelled: %v", got)
	}
	if len(k.Transactions()) != 0 {
		t.Error("money moved")
	}
	k.must(http.StatusOK, http.MethodDelete, "/sim/urls/"+shortCode, nil)
	k.register("Completed")
	if got := k.must(http.StatusOK, http.MethodPost, "/sim/paybill", pay); got["state"] != "completed" {
		t.Errorf("unreachable, completed: %v", got)
	}
	pay["shortCode"] = "600999"
	if got := k.must(http.StatusOK, http.MethodPost, "/sim/paybill", pay); got["confirmation"] != "not_registered" {
		t.Errorf("nobody registered: %v", got)
	}
	if got := len(k.Transactions()); got != 2 {
		t.Errorf("%d transactions", got)
	}
}

func TestRegister_RefusesBadRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	good := k.hook.URL + "/c"
	for name, body := range map[string]map[string]any{
		"elsewhere": {
			"ShortCode": shortCode, "ResponseType": "Completed", "ConfirmationURL": "https://example.com",
			"ValidationURL": good,
		},
		"no validation": {"ShortCode": shortCode, "ResponseType": "Completed", "ConfirmationURL": good},
		"response type": {
			"ShortCode": shortCode, "ResponseType": "Maybe", "ConfirmationURL": good, "ValidationURL": good,
		},
		"no shortcode": {"ResponseType": "Completed", "ConfirmationURL": good, "ValidationURL": good},
	} {
		if status, answer, _ := k.do(http.MethodPost, "/c2b/v2/registerurl", k.token,
			body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}

func TestRegister_IsTakenOnceAsInProductionAndAgainInTheSandbox(t *testing.T) {
	t.Parallel()
	body := func(k *kit, path string) map[string]any {
		return map[string]any{"ShortCode": shortCode, "ResponseType": "Completed", "ConfirmationURL": k.hook.URL + path,
			"ValidationURL": k.hook.URL + "/validation"}
	}
	k := newKit(t, provider.Config{})
	k.register("Completed")
	status, answer, _ := k.do(http.MethodPost, "/c2b/v2/registerurl", k.token, body(k, "/confirmation"))
	if status != http.StatusInternalServerError || answer["errorCode"] != "500.003.1001" ||
		answer["errorMessage"] != "Urls are already registered." {
		t.Errorf("a second time: %d %v", status, answer)
	}
	if err := k.SetFaults(provider.Faults{PlainRegistered: true}); err != nil {
		t.Fatal(err)
	}
	answer = k.must(http.StatusOK, http.MethodPost, "/c2b/v2/registerurl", body(k, "/confirmation"))
	if _, coded := answer["ResponseCode"]; coded || answer["errorCode"] != nil {
		t.Errorf("the older form: %v", answer)
	}
	if !k.DeleteURLs(shortCode) || k.DeleteURLs(shortCode) {
		t.Error("deleted never, or twice")
	}
	k.register("Completed")
	sandbox := newKit(t, provider.Config{Sandbox: true})
	sandbox.register("Completed")
	sandbox.register("Completed")
}

func TestAddresses_WithAForbiddenWordAreRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	for _, path := range []string{"/pay-EXEcutive", "/M-Pesa", "/mPESA", "/safariCom", "/cmd", "/my-sql", "/query"} {
		status, answer, _ := k.do(http.MethodPost, "/c2b/v2/registerurl", k.token, map[string]any{
			"ShortCode": shortCode, "ResponseType": "Completed", "ConfirmationURL": k.hook.URL + "/c",
			"ValidationURL": k.hook.URL + path,
		})
		if status != http.StatusBadRequest || answer["errorCode"] != "400.003.02" {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
	k.register("Completed")
}

func TestTransactionStatus_ResultIsPosted(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.push(nil)
	k.messages("/stk")
	answer := k.must(http.StatusOK, http.MethodPost, "/mpesa/transactionstatus/v1/query", map[string]any{
		"TransactionID": k.Transactions()[0].ReceiptNumber, "PartyA": shortCode, "ResultURL": k.hook.URL + "/result",
		"Initiator": "operator", "SecurityCredential": "sealed",
	})
	posted := k.messages("/result")
	if len(posted) != 1 {
		t.Fatalf("%d results", len(posted))
	}
	result := posted[0]["Result"].(map[string]any)
	if result["ResultCode"] != 0.0 || result["ConversationID"] != answer["ConversationID"] {
		t.Errorf("result %v", result)
	}
}

func TestSimulator_SameSeedSameRun(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) []provider.Transaction {
		k := newKit(t, provider.Config{Seed: seed})
		for range 5 {
			k.push(nil)
			k.messages("/stk")
		}
		return k.Transactions()
	}
	one, again, other := run(7), run(7), run(8)
	if diff := cmp.Diff(one, again); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(one, other) {
		t.Error("another seed gave the same run")
	}
}

func TestSimulator_ReceiptsAreUniqueUnderLoad(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	for range 300 {
		if _, err := k.Pay(t.Context(),
			provider.Paybill{ShortCode: shortCode, MSISDN: payer,
				Amount: provider.Amount{Amount: money.Major(1, money.KES)}}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, moved := range k.Transactions() {
		if seen[moved.ReceiptNumber] {
			t.Fatalf("receipt %s twice", moved.ReceiptNumber)
		}
		seen[moved.ReceiptNumber] = true
	}
}

func TestSimulator_StopDropsWhatIsPending(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{CallbackDelay: time.Hour})
	k.push(nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if k.Idle(ctx) == nil {
		t.Error("idle while a payer is thinking")
	}
}
