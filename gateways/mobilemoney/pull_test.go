package mobilemoney_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestPull_ListsPaymentsOfARegisteredShortcode(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	number := k.paid()
	from, to := start.Add(-time.Hour), start.Add(time.Minute)
	if _, err := k.Pull(t.Context(), creds, from, to, 0); failure.KindOf(err) != failure.Refused {
		t.Errorf("not registered: %v", err)
	}
	q := mobilemoney.PullRegistration{NominatedNumber: payer, CallbackURL: k.hook.URL + "/pull"}
	for range 2 { // the second is told that the shortcode is registered already
		if err := k.RegisterPull(t.Context(), creds, q); err != nil {
			t.Fatal(err)
		}
	}
	page, err := k.Pull(t.Context(), creds, from, to, 0)
	if err != nil || len(page.Payments) != 1 || page.Rows != 1 {
		t.Fatalf("listed: %+v, %v", page, err)
	}
	got := page.Payments[0]
	if got.ReceiptNumber != number || got.Amount != money.Major(400, money.KES) || !got.PaidAt.Equal(start) ||
		got.MSISDN != payer {
		t.Errorf("payment: %+v at %s of %s", got, got.PaidAt, got.Amount.Decimal())
	}
	if page, err := k.Pull(t.Context(), creds, from, to, 1); err != nil || page.Rows != 0 {
		t.Errorf("after the end: %+v, %v", page, err)
	}
	q.NominatedNumber = ""
	if err := k.RegisterPull(t.Context(), creds, q); failure.KindOf(err) != failure.Refused {
		t.Errorf("without a number: %v", err)
	}
}

// fixedToken gives every call the same token.
type fixedToken struct{}

func (fixedToken) Token(context.Context, mobilemoney.Credentials) (string, error) { return "t", nil }
func (fixedToken) Drop(context.Context, mobilemoney.Credentials, string)          {}

// TestPull_ReadsWhatMayCome: rows of other forms are left out and counted, and never stop those beside them.
func TestPull_ReadsWhatMayCome(t *testing.T) {
	t.Parallel()
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: server.URL, Test: true, Guard: breaker.New(breaker.Config{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endpoint.Close)
	client := mobilemoney.New(endpoint, fixedToken{})
	for name, c := range map[string]struct {
		answer                  string
		payments, rows, strange int
		kind                    failure.Kind
	}{
		"plain list": {
			`{"ResponseCode":"1000","Response":[{"transactionId":"a1","amount":"10",
			"trxDate":"2026-03-02T12:00:00Z"}]}`,
			1, 1, 0, 0,
		},
		"other kinds, odd rows": {
			`{"ResponseCode":1000,"Response":[[{"transactionId":"A1","amount":5,"msisdn":722000000},
			{"transactionId":"A2","amount":"-5"},{"amount":"5"},7,"x",null,[1],
			{"transactionId":"A3","amount":"5","transactiontype":"b2c-payment"},
			{"transactionId":"A4","amount":"5","transactiontype":"c2b-reversal"}]]}`, 1, 9, 6, 0,
		},
		"nothing":   {`{"ResponseCode":"1001","ResponseMessage":"none"}`, 0, 0, 0, 0},
		"no list":   {`{"ResponseCode":"1000","Response":{"x":1}}`, 0, 0, 0, 0},
		"refused":   {`{"ResponseCode":"4000","ResponseMessage":"no"}`, 0, 0, 0, failure.Refused},
		"not JSON":  {`<html>`, 0, 0, 0, failure.Unavailable},
		"nested on": {`{"ResponseCode":"1000","Response":[[[[[]]]]]}`, 0, 1, 1, 0},
	} {
		answer = c.answer
		page, err := client.Pull(t.Context(), creds, start.Add(-time.Hour), start, 0)
		if len(page.Payments) != c.payments || page.Rows != c.rows || page.Strange != c.strange ||
			(err != nil) != (c.kind != 0) || err != nil && failure.KindOf(err) != c.kind {
			t.Errorf("%s: %d payments, %d rows, %d strange, %v", name, len(page.Payments), page.Rows, page.Strange, err)
		}
		for _, p := range page.Payments {
			if !p.PaidAt.IsZero() && !p.PaidAt.Equal(start) { // noon in East Africa, though it says UTC
				t.Errorf("%s: paid at %s", name, p.PaidAt)
			}
		}
	}
}
