package paymentsapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// newOperatorKit starts a kit whose platform may ask for status and reversals. Callbacks need a token.
func newOperatorKit(t *testing.T) *moneyKit {
	t.Helper()
	return newMoneyKit(t, moneytest.Options{Live: true, Initiator: true})
}

// fault makes the provider misbehave; confirmations of paid prompts go on.
func (k *moneyKit) fault(t *testing.T, f provider.Faults) {
	t.Helper()
	f.C2BAlso = true
	if err := k.Sim.SetFaults(f); err != nil {
		t.Fatal(err)
	}
}

// reversal asks for a refund by the provider, and approves it.
func (k *moneyKit) reversal(t *testing.T, receipt id.Receipt) (out shownRefund) {
	t.Helper()
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt.String()+"/refund",
		map[string]any{"by": "reversal", "reason": "paid twice"}, 201).Into(t, &out)
	k.decide(t, out.ID, "approve", map[string]any{}, 200)
	k.Quiet(t)
	return k.readRefund(t, out.ID)
}

// readRefund gives a refund as support sees it.
func (k *moneyKit) readRefund(t *testing.T, refund string) (out shownRefund) {
	t.Helper()
	k.Do(t, apitest.Request{Path: "/refunds/" + refund, As: apitest.Support}).Into(t, &out)
	return out
}

// sentBack counts the payments that the provider has sent back.
func (k *moneyKit) sentBack() (n int) {
	for _, moved := range k.Sim.Transactions() {
		if moved.State == "reversed" {
			n++
		}
	}
	return n
}

// postResult posts a result at the address of a token, as the provider would.
func (k *moneyKit) postResult(t *testing.T, path, token string, result map[string]any) int {
	t.Helper()
	body, err := json.Marshal(map[string]any{"Result": result})
	if err != nil {
		t.Fatal(err)
	}
	return k.Do(t, apitest.Request{
		Method: "POST", Path: "/webhooks/mobile-money/" + path + "/" + token, Body: json.RawMessage(body),
	}).Status
}

// resultToken gives the token in the address of the results of a refund's reversal.
func (k *moneyKit) resultToken(t *testing.T, refund string) string {
	t.Helper()
	token, err := k.Vault.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
		Kind: paymentsjobs.TokenReversal, Ref: id.Must[id.Refund](refund).UUID(), OrgID: k.Org,
		Shortcode: moneytest.PlatformShortcode,
	})
	if err != nil {
		t.Fatal(err)
	}
	return token.Reveal()
}

func TestReversal_TheProviderSendsTheMoneyBackOnce(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	path := "/receipts/" + receipt.String()
	k.Quiet(t)
	var shown struct{ Reversible bool }
	k.Do(t, apitest.Request{Path: path, As: apitest.Support}).Into(t, &shown)
	if !shown.Reversible {
		t.Error("the receipt does not say that it can be reversed")
	}
	part := k.Post(t, apitest.Acme, apitest.Admin, path+"/refund",
		map[string]any{"by": "reversal", "reason": "x", "amount": 100}, 409)
	if part.Code() != "reversal_whole_only" {
		t.Errorf("a part: %s", part.Body)
	}
	k.fault(t, provider.Faults{DuplicateCallbacks: 2})
	done := k.reversal(t, receipt)
	number := k.Sim.Transactions()[0].ReversalNumber
	if done.State != "completed" || done.Reference == nil || *done.Reference != number || number == "" {
		t.Errorf("reversed as %s: %+v", number, done)
	}
	k.Quiet(t)
	if shown := k.receipt(t, receipt.String()); shown.State != "refunded" {
		t.Errorf("the receipt is %s", shown.State)
	}
	if a := k.Account(t, k.Amina); !a.Credit().IsZero() || k.sentBack() != 1 {
		t.Errorf("credit %s, %d sent back", a.Credit(), k.sentBack())
	}
	proof, _ := k.proof(t, receipt)
	if !slices.Contains(proof.kinds(), "refund_submitted") {
		t.Errorf("proof: %v", proof.kinds())
	}
}

func TestReversal_ThatTheProviderRefusesIsCreditAgain(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	k.fault(t, provider.Faults{RefuseReversals: true})
	failed := k.reversal(t, receipt)
	if failed.State != "failed" || failed.Failure == nil || *failed.Failure != "provider_refused" {
		t.Errorf("refused: %+v", failed)
	}
	k.Quiet(t)
	if credit := k.Account(t, k.Amina).Credit().Minor; credit != 40000 {
		t.Errorf("credit %d", credit)
	}
}

// Neither the answer nor the result comes: the reversal is asked about, and never sent twice.
func TestReversal_ALostAnswerIsAskedAboutAndNeverSentTwice(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	k.fault(t, provider.Faults{LoseReversal: 1, DropCallbacks: 1})
	doubted := k.reversal(t, receipt)
	if doubted.State != "in_doubt" || doubted.Failure == nil || *doubted.Failure != "no_answer" {
		t.Fatalf("lost: %+v", doubted)
	}
	k.decide(t, doubted.ID, "cancel", map[string]any{"reason": "no"}, 409)
	k.fault(t, provider.Faults{})
	k.Clock.Advance(time.Minute + time.Second)
	k.Until(t, "the provider is asked", func() bool { return k.readRefund(t, doubted.ID).State == "completed" })
	k.Quiet(t)
	if a := k.Account(t, k.Amina); !a.Credit().IsZero() || k.sentBack() != 1 {
		t.Errorf("credit %s, %d sent back", a.Credit(), k.sentBack())
	}
}

func TestReversal_WithoutAnEndIsSettledByAPerson(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	waits := k.reversal(t, receipt)
	if waits.State != "submitted" {
		t.Fatalf("acknowledged: %+v", waits)
	}
	settle := map[string]any{"outcome": "completed", "reference": "SEEN IN THE PORTAL"}
	k.decide(t, waits.ID, "settle", settle, 409)
	k.Clock.Advance(5*time.Minute + time.Second)
	k.Until(t, "it is in doubt", func() bool { return k.readRefund(t, waits.ID).State == "in_doubt" })
	if done := k.decide(t, waits.ID, "settle", settle, 200); done.State != "completed" {
		t.Errorf("settled: %+v", done)
	}
	k.Quiet(t)
	result := map[string]any{"ResultCode": "2028", "ResultDesc": "no"}
	if status := k.postResult(t, "result", k.resultToken(t, waits.ID), result); status != http.StatusOK {
		t.Errorf("late result: %d", status)
	}
	k.Quiet(t)
	if done := k.readRefund(t, waits.ID); done.State != "completed" {
		t.Errorf("after a late failure: %+v", done)
	}
}

// The provider says first that it did not come to the reversal in time, and then that it made it.
func TestReversal_AResultAfterTheTimeOutCounts(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	waits := k.reversal(t, receipt)
	token := k.resultToken(t, waits.ID)
	k.postResult(t, "timeout", token, map[string]any{"ResultCode": "1", "ResultDesc": "timed out"})
	k.Quiet(t)
	if doubted := k.readRefund(t, waits.ID); doubted.State != "in_doubt" || *doubted.Failure != "timed_out" {
		t.Fatalf("timed out: %+v", doubted)
	}
	k.postResult(t, "result", token, map[string]any{"ResultCode": 0, "TransactionID": "SJK4X7Q2P1"})
	k.postResult(t, "timeout", token, map[string]any{"ResultCode": "1", "ResultDesc": "timed out"})
	k.Quiet(t)
	if done := k.readRefund(t, waits.ID); done.State != "completed" || done.Failure != nil {
		t.Errorf("result: %+v", done)
	}
}

func TestReversal_AForgedResultChangesNothing(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	waits := k.reversal(t, receipt)
	prompt, err := k.Vault.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
		Kind: paymentsjobs.TokenPrompt, Ref: id.Must[id.Refund](waits.ID).UUID(), OrgID: k.Org,
	})
	if err != nil {
		t.Fatal(err)
	}
	success := map[string]any{"ResultCode": 0, "TransactionID": "FORGED0000"}
	for _, token := range []string{strings.Repeat("a", 43), prompt.Reveal()} {
		k.postResult(t, "result", token, success)
		k.postResult(t, "timeout", token, success)
	}
	other := map[string]any{
		"ResultCode": 0, "TransactionID": "ANOTHER000", "ResultParameters": map[string]any{
			"ResultParameter": []map[string]any{{"Key": "OriginalTransactionID", "Value": "SJK0000000"}},
		},
	}
	k.postResult(t, "result", k.resultToken(t, waits.ID), other) // right address, another payment
	k.Quiet(t)
	if still := k.readRefund(t, waits.ID); still.State != "submitted" {
		t.Errorf("after forged results: %+v", still)
	}
}

// The program dies after it noted that it asks, before an answer: its next start must not ask again.
func TestReversal_InterruptedBetweenSubmissionAndAnswerIsInDoubt(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	receipt := k.paid(t, commands.AccountNumber(1_000_000), 400)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	waits := k.reversal(t, receipt)
	before := len(k.Sim.Deliveries())
	args := commands.SubmitReversal{RefundID: id.Must[id.Refund](waits.ID)}
	if err := k.Workers.SubmitReversal(t.Context(), args, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
		t.Fatal(err)
	}
	k.Quiet(t)
	doubted := k.readRefund(t, waits.ID)
	if doubted.State != "in_doubt" || *doubted.Failure != "interrupted" || k.sentBack() != 1 {
		t.Errorf("%+v, %d sent back", doubted, k.sentBack())
	}
	if len(k.Sim.Deliveries()) != before {
		t.Error("the provider was asked again")
	}
}

// The callback of a prompt is lost, and a status query finds the money: the receipt is asked for and claims it.
func TestProvisionalReceipt_IsAskedAboutAndClaimed(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	payment := k.prompt(t, 500).PaymentID
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/query", map[string]any{"paymentId": payment}, 200)
	k.Quiet(t)
	k.expectCredited(t, 500, 1)
	k.fault(t, provider.Faults{DuplicateCallbacks: 1})
	cause := jobs.Cause{JobID: id.New[id.Any]()}
	if err := k.Workers.SweepMoney(t.Context(), commands.SweepMoney{}, cause); err != nil {
		t.Fatal(err)
	}
	k.Quiet(t)
	number := k.Sim.Transactions()[0].ReceiptNumber
	real := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, number).String())
	if real.State != "absorbed" {
		t.Errorf("the real receipt %s: %+v", number, real)
	}
	k.expectCredited(t, 500, 1)
}

// A customer names the number of a payment that no callback has told of.
func TestReceiptInquiry_FindsMoneyThatNobodyHasToldOf(t *testing.T) {
	t.Parallel()
	k := newOperatorKit(t)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	paid := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 700)
	k.fault(t, provider.Faults{})
	ask := func(number string, status int) (out struct{ ReceiptID, State string }) {
		body := map[string]any{"receiptNumber": number}
		a := k.Post(t, apitest.Acme, apitest.Admin, "/receipt-inquiries", body, status)
		if status == http.StatusAccepted {
			a.Into(t, &out)
		}
		return out
	}
	ask("12", 422)
	for _, number := range []string{"NOSUCH0000", strings.ToLower(paid.ReceiptNumber)} {
		if out := ask(number, 202); out.State != "asked" {
			t.Errorf("%s: %+v", number, out)
		}
		k.Quiet(t)
	}
	k.expectCredited(t, 700, 1) // the payer's phone is Amina's
	if out := ask(paid.ReceiptNumber, 202); out.State != "known" {
		t.Errorf("again: %+v", out)
	}
	if list := fmt.Sprint(k.Sim.Deliveries()); strings.Count(list, "status") != 2 {
		t.Errorf("asked: %s", list)
	}
}
