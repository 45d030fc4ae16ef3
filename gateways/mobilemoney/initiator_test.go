package mobilemoney_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// operator may ask for status and reversals in every test.
var operator = mobilemoney.Initiator{Name: "operator", SecurityCredential: "c2VhbGVk"}

// results are the addresses of a kit's hook.
func (k *kit) results() mobilemoney.ResultURLs {
	return mobilemoney.ResultURLs{Result: k.hook.URL + "/result", Timeout: k.hook.URL + "/timeout"}
}

// paid makes a paybill payment and gives its receipt number.
func (k *kit) paid() string {
	k.t.Helper()
	r, err := k.sim.Pay(k.t.Context(), provider.Paybill{
		ShortCode: creds.ShortCode, MSISDN: payer, Amount: provider.Amount{Amount: money.Major(400, money.KES)},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return r.ReceiptNumber
}

// posted gives the results that came at a path.
func (k *kit) posted(path string) []mobilemoney.Result {
	k.t.Helper()
	if err := k.sim.Idle(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var list []mobilemoney.Result
	for _, body := range k.bodies[path] {
		r, err := mobilemoney.ParseResult(body)
		if err != nil {
			k.t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestAskStatus_TellsWhatBecameOfAReceipt(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	number := k.paid()
	for _, n := range []string{number, "NOSUCH0000"} {
		q := mobilemoney.StatusRequest{ReceiptNumber: n, URLs: k.results()}
		if err := k.AskStatus(t.Context(), creds, operator, q); err != nil {
			t.Fatal(err)
		}
		k.posted("/result")
	}
	list := k.posted("/result")
	if len(list) != 2 {
		t.Fatalf("%d results", len(list))
	}
	known, unknown := list[0], list[1]
	if !known.Completed() || known.ReceiptNumber != number || known.Amount != money.Major(400, money.KES) ||
		known.Debit.Number != payer || known.Credit.Number != creds.ShortCode || known.FinalisedAt.IsZero() {
		t.Errorf("known: %+v", known)
	}
	if unknown.Done() || unknown.ReceiptNumber != "" {
		t.Errorf("unknown: %+v", unknown)
	}
}

func TestReverse_SendsThePaymentBackOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	q := mobilemoney.ReversalRequest{ReceiptNumber: k.paid(), Amount: money.Major(400, money.KES), URLs: k.results()}
	for range 2 {
		a, err := k.Reverse(t.Context(), creds, operator, q)
		if err != nil || a.Outcome != mobilemoney.Accepted || a.OriginatorConversationID == "" {
			t.Fatalf("%+v, %v", a, err)
		}
		k.posted("/result")
	}
	list := k.posted("/result")
	if !list[0].Done() || list[0].OriginalNumber != q.ReceiptNumber || list[0].TransactionID == "" {
		t.Errorf("first: %+v", list[0])
	}
	if list[1].Done() {
		t.Errorf("second: %+v", list[1])
	}
	if !k.sim.Balance(creds.ShortCode).IsZero() {
		t.Errorf("the shortcode still has %v", k.sim.Balance(creds.ShortCode))
	}
}

func TestReverse_ALostAnswerAndAnInternalErrorAreInDoubt(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	number := k.paid()
	if err := k.sim.SetFaults(provider.Faults{LoseReversal: 1}); err != nil {
		t.Fatal(err)
	}
	q := mobilemoney.ReversalRequest{ReceiptNumber: number, Amount: money.Major(400, money.KES), URLs: k.results()}
	a, err := k.Reverse(t.Context(), creds, operator, q)
	if err != nil || a.Outcome != mobilemoney.InDoubt {
		t.Errorf("lost answer: %+v, %v", a, err)
	}
	for status, want := range map[int]mobilemoney.Outcome{500: mobilemoney.InDoubt, 400: mobilemoney.Refused} {
		k := newKitAt(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/oauth") {
				_, _ = w.Write([]byte(`{"access_token":"t","expires_in":"3599"}`))
				return
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"requestId":"1","errorCode":"500.001.1001","errorMessage":"no"}`))
		})
		q.URLs = mobilemoney.ResultURLs{Result: "https://isp.example/r", Timeout: "https://isp.example/t"}
		if a, err := k.Reverse(t.Context(), creds, operator, q); err != nil || a.Outcome != want {
			t.Errorf("status %d: %+v, %v", status, a, err)
		}
	}
}

func TestReverse_WithoutInitiatorIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	q := mobilemoney.ReversalRequest{ReceiptNumber: k.paid(), Amount: money.Major(400, money.KES), URLs: k.results()}
	a, err := k.Reverse(t.Context(), creds, mobilemoney.Initiator{}, q)
	if a.Outcome != mobilemoney.NotSent || failure.KindOf(err) != failure.Invalid {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestParseResult_NeverGuessesMoney(t *testing.T) {
	t.Parallel()
	one := `{"Result":{"ResultCode":0,"ResultParameters":{"ResultParameter":{"Key":"Amount","Value":"12.50"}}}}`
	if r, err := mobilemoney.ParseResult([]byte(one)); err != nil || r.Amount.Minor != 1250 {
		t.Errorf("one entry without a list: %+v, %v", r, err)
	}
	for _, body := range []string{
		`{}`, `[]`, `{"Result":{}}`, `{"Result":{"ResultCode":0,"ResultParameters":{"ResultParameter":[
			{"Key":"Amount","Value":1},{"Key":"Amount","Value":2}]}}}`,
		`{"Result":{"ResultCode":0,"ResultParameters":{"ResultParameter":[{"Key":"Amount","Value":-1}]}}}`,
	} {
		if r, err := mobilemoney.ParseResult([]byte(body)); err == nil {
			t.Errorf("%s was read as %+v", body, r)
		}
	}
}
