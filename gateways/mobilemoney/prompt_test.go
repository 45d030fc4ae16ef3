package mobilemoney_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestPrompt_AcceptedPaidAndTold(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	answer := k.prompt(mobilemoney.Accepted)
	bodies := k.received("/stk")
	if len(bodies) != 1 {
		t.Fatalf("%d callbacks", len(bodies))
	}
	got, err := mobilemoney.ParseSTKCallback(bodies[0])
	if err != nil {
		t.Fatal(err)
	}
	moved := k.sim.Transactions()[0]
	want := mobilemoney.STKCallback{
		MerchantRequestID: answer.MerchantRequestID, CheckoutRequestID: answer.CheckoutRequestID, ResultCode: "0",
		ResultDesc: "The service request is processed successfully.",
		// 149.50 rounded up
		ReceiptNumber: moved.ReceiptNumber, Amount: money.Major(150, money.KES), PaidAt: start, Phone: payer,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if answer.CustomerMessage == "" || moved.AccountReference != "ACME-0001" {
		t.Errorf("answer %+v, moved %+v", answer, moved)
	}
	k.query(answer.CheckoutRequestID, mobilemoney.Success)
}

func TestPrompt_WireFields(t *testing.T) {
	t.Parallel()
	var got map[string]any
	k := newKitAt(t, provided(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mpesa/stkpush/v1/processrequest" {
			t.Errorf("path %s", r.URL.Path)
		}
		_ = json.NewDecoder(r.Body).Decode(&got)
		_, _ = io.WriteString(w, `{"CheckoutRequestID":"c","ResponseCode":0}`)
	}))
	k.prompt(mobilemoney.Accepted)
	want := map[string]any{
		"BusinessShortCode": "600100", "Password": "NjAwMTAwcGFzc2tleTIwMjYwMzAyMTIwMDAw",
		"Timestamp": "20260302120000", "TransactionType": "CustomerPayBillOnline", "Amount": 150.0, "PartyA": payer,
		"PartyB": "600100", "PhoneNumber": payer, "CallBackURL": k.hook.URL + "/stk", "AccountReference": "ACME-0001",
		"TransactionDesc": "Internet",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// provided answers token requests and passes all others to handle.
func provided(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth/v1/generate" {
			_, _ = io.WriteString(w, `{"access_token":"t","expires_in":"3599"}`)
			return
		}
		handle(w, r)
	}
}

func TestPrompt_OutcomeOfEachAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   mobilemoney.Outcome
		code   string // of the refusal
	}{
		"accepted": {
			200, `{"MerchantRequestID":"m","CheckoutRequestID":"c","ResponseCode":"0"}`, mobilemoney.Accepted, "",
		},
		"response code not 0": {200, `{"ResponseCode":"1","ResponseDescription":"no"}`, mobilemoney.Refused, "1"},
		"error body 400": {
			400, `{"requestId":"r","errorCode":"400.002.02","errorMessage":"bad"}`, mobilemoney.Refused, "400.002.02",
		},
		"error body 500": {
			500, `{"requestId":"r","errorCode":"500.001.1001","errorMessage":"busy"}`, mobilemoney.Refused,
			"500.001.1001",
		},
		"gateway time-out": {
			504, `{"requestId":"r","errorCode":"504.003.01","errorMessage":"timeout"}`, mobilemoney.InDoubt, "",
		},
		"accepted without id":      {200, `{"ResponseCode":"0"}`, mobilemoney.InDoubt, ""},
		"empty":                    {200, ``, mobilemoney.InDoubt, ""},
		"not JSON":                 {200, `<html>`, mobilemoney.InDoubt, ""},
		"server error, no body":    {502, `bad gateway`, mobilemoney.InDoubt, ""},
		"client error, no body":    {403, `forbidden`, mobilemoney.InDoubt, ""},
		"redirect is not followed": {307, ``, mobilemoney.InDoubt, ""},
		"unauthorised twice":       {401, ``, mobilemoney.Refused, "401"},
		"too large": {
			200, `{"CheckoutRequestID":"c","ResponseCode":"0","x":"` + strings.Repeat("x", 70_000) + `"}`,
			mobilemoney.InDoubt, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKitAt(t, provided(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					t.Error("followed a redirect")
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			answer := k.prompt(c.want)
			if c.code != "" && (answer.Refusal == nil || answer.Refusal.Code != c.code) {
				t.Errorf("refusal %v", answer.Refusal)
			}
			if (answer.Outcome == mobilemoney.InDoubt) != (answer.Cause != nil) {
				t.Errorf("cause %v", answer.Cause)
			}
		})
	}
}

func TestPrompt_LostAnswerIsInDoubtAndNeverRepeated(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.faults(provider.Faults{LoseResponse: 1})
	k.prompt(mobilemoney.InDoubt)
	k.idle()
	if prompts, moved := len(k.sim.Prompts()), len(k.sim.Transactions()); prompts != 1 || moved != 1 {
		t.Errorf("%d prompts, %d payments", prompts, moved)
	}
}

func TestPrompt_TimeoutIsInDoubt(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.prompt(mobilemoney.Accepted) // fetches the token and opens the connection
	k.faults(provider.Faults{LatencyMs: 60_000})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	answer, err := k.Prompt(ctx, creds, k.request())
	if answer.Outcome != mobilemoney.InDoubt || err != nil || !errors.Is(answer.Cause, context.DeadlineExceeded) {
		t.Errorf("outcome %s, cause %v, error %v", answer.Outcome, answer.Cause, err)
	}
}

func TestPrompt_NotSentWhenNothingLeft(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.faults(provider.Faults{ErrorRate: 1}) // the token request fails
	if _, err := k.Prompt(t.Context(), creds, k.request()); failure.CodeOf(err) != "provider_unavailable" {
		t.Errorf("error is %v", err)
	}
	k.faults(provider.Faults{})
	k.prompt(mobilemoney.Accepted)

	other := newKit(t, provider.Config{})
	other.prompt(mobilemoney.Accepted) // its token is cached, so that only the prompt can fail
	other.endpoint.Close()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	other.idle()
	if err := other.sim.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	other.prompt(mobilemoney.NotSent)
}

func TestPrompt_InvalidInputIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	for name, change := range map[string]func(*mobilemoney.PromptRequest){
		"phone":            func(q *mobilemoney.PromptRequest) { q.Phone = "12" },
		"no amount":        func(q *mobilemoney.PromptRequest) { q.Amount = money.Amount{} },
		"negative amount":  func(q *mobilemoney.PromptRequest) { q.Amount = money.Of(-100, money.KES) },
		"too much":         func(q *mobilemoney.PromptRequest) { q.Amount = money.Of(25_000_001, money.KES) },
		"other currency":   func(q *mobilemoney.PromptRequest) { q.Amount = money.Major(10, "UGX") },
		"callback":         func(q *mobilemoney.PromptRequest) { q.CallbackURL = "stk" },
		"long reference":   func(q *mobilemoney.PromptRequest) { q.AccountReference = "ACME-00000001" },
		"no reference":     func(q *mobilemoney.PromptRequest) { q.AccountReference = "" },
		"long description": func(q *mobilemoney.PromptRequest) { q.Description = "Internet March" },
	} {
		q := k.request()
		change(&q)
		answer, err := k.Prompt(t.Context(), creds, q)
		if answer.Outcome != mobilemoney.NotSent || failure.KindOf(err) != failure.Invalid {
			t.Errorf("%s: outcome %s, error %v", name, answer.Outcome, err)
		}
	}
	if _, err := k.Prompt(t.Context(), mobilemoney.Credentials{}, k.request()); failure.KindOf(err) != failure.Invalid {
		t.Errorf("no credentials: %v", err)
	}
	if len(k.sim.Prompts()) != 0 {
		t.Error("a prompt was sent")
	}
}

func TestPrompt_InvalidTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.prompt(mobilemoney.Accepted)
	k.faults(provider.Faults{InvalidateTokens: true})
	k.prompt(mobilemoney.Accepted)
	if got := len(k.sim.Prompts()); got != 2 {
		t.Errorf("%d prompts", got)
	}
	var calls atomic.Int32
	stubborn := newKitAt(t, provided(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"requestId":"r","errorCode":"404.001.03","errorMessage":"Invalid Access Token"}`)
	}))
	if answer := stubborn.prompt(mobilemoney.Refused); answer.Refusal.Code != "404.001.03" || calls.Load() != 2 {
		t.Errorf("refusal %v after %d calls", answer.Refusal, calls.Load())
	}
}

func TestPrompt_NoSecondTokenIsNotSent(t *testing.T) {
	t.Parallel()
	var tokens atomic.Int32
	k := newKitAt(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/oauth/v1/generate":
			w.WriteHeader(http.StatusUnauthorized)
		case tokens.Add(1) == 1:
			_, _ = io.WriteString(w, `{"access_token":"t","expires_in":"3599"}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	k.prompt(mobilemoney.NotSent) // the first was refused for its token, the second was not sent
	if got := tokens.Load(); got != 2 {
		t.Errorf("%d tokens were asked for", got)
	}
}

func TestPrompt_OpenBreakerSendsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.prompt(mobilemoney.Accepted)
	k.faults(provider.Faults{ErrorRate: 1})
	for range 5 {
		k.prompt(mobilemoney.InDoubt)
	}
	k.faults(provider.Faults{})
	if err := k.Ready(); failure.CodeOf(err) != "provider_unavailable" {
		t.Fatalf("ready: %v", err)
	}
	answer, err := k.Prompt(t.Context(), creds, k.request())
	var f *failure.Error
	if answer.Outcome != mobilemoney.NotSent || !errors.As(err, &f) || f.RetryAfter != 30*time.Second {
		t.Errorf("outcome %s, error %v", answer.Outcome, err)
	}
	if got := len(k.sim.Prompts()); got != 1 {
		t.Errorf("%d prompts", got)
	}
	k.clock.Advance(30 * time.Second)
	k.prompt(mobilemoney.Accepted)
	if got := k.breakers.States(); len(got) != 1 || got[0].State != breaker.Closed ||
		got[0].Target != k.endpoint.Target() {
		t.Errorf("states %+v", got)
	}
}

func TestPrompt_ProviderRefusalsLeaveTheBreakerClosed(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	if err := k.sim.AddCredentials("key", "secret", "600100", "another passkey"); err != nil {
		t.Fatal(err)
	}
	for range 10 { // each a 500 with the provider's error body
		k.prompt(mobilemoney.Refused)
	}
	if err := k.Ready(); err != nil {
		t.Errorf("breaker opened: %v", err)
	}
}

func TestCallbacks_DuplicatedReorderedAndBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	if err := k.RegisterURLs(t.Context(), creds,
		mobilemoney.URLs{Confirmation: k.hook.URL + "/c", Validation: k.hook.URL + "/v"}); err != nil {
		t.Fatal(err)
	}
	k.faults(provider.Faults{DuplicateCallbacks: 2, ReorderCallbacks: true})
	k.prompt(mobilemoney.Accepted)
	k.idle()
	k.faults(provider.Faults{CallbackBeforeResponse: true})
	k.prompt(mobilemoney.Accepted)
	receipts := map[string]int{}
	for _, body := range k.received("/stk") {
		c, err := mobilemoney.ParseSTKCallback(body)
		if err != nil || c.Verdict().Status != mobilemoney.Success {
			t.Fatalf("callback %v, %v", c, err)
		}
		receipts[c.ReceiptNumber]++
	}
	for _, body := range k.received("/c") {
		c, err := mobilemoney.ParseC2B(body)
		phone, clear := c.Phone()
		if err != nil || c.BillRef != "ACME-0001" || c.Amount != money.Major(150, money.KES) ||
			c.ShortCode != "600100" || !clear || phone != payer {
			t.Fatalf("confirmation %#v, %v", c, err)
		}
		receipts[c.ReceiptNumber]++
	}
	want := map[string]int{}
	for i, moved := range k.sim.Transactions() {
		want[moved.ReceiptNumber] = []int{6, 2}[i]
	}
	if diff := cmp.Diff(want, receipts); diff != "" { // one receipt, many sightings
		t.Error(diff)
	}
}

func TestEndpoint_AddressRules(t *testing.T) {
	t.Parallel()
	guard := breaker.New(breaker.Config{})
	for name, c := range map[string]struct {
		cfg mobilemoney.Config
		ok  bool
	}{
		"sandbox":                {mobilemoney.Config{Environment: mobilemoney.Sandbox, Guard: guard}, true},
		"production":             {mobilemoney.Config{Environment: mobilemoney.Production, Guard: guard}, true},
		"neither":                {mobilemoney.Config{Environment: "staging", Guard: guard}, false},
		"override":               {mobilemoney.Config{BaseURL: "https://provider.test/", Guard: guard}, true},
		"plain http on loopback": {mobilemoney.Config{BaseURL: "http://127.0.0.1:9000", Guard: guard}, true},
		"plain http elsewhere":   {mobilemoney.Config{BaseURL: "http://provider.test", Guard: guard}, false},
		"test mode never goes out": {
			mobilemoney.Config{Environment: mobilemoney.Sandbox, Test: true, Guard: guard}, false,
		},
		"not by another name either": {
			mobilemoney.Config{BaseURL: "https://API.Safaricom.co.ke.", Test: true, Guard: guard}, false,
		},
		"test mode with an override": {
			mobilemoney.Config{
				Environment: mobilemoney.Production, BaseURL: "http://sim:9000", Test: true, Guard: guard,
			},
			true,
		},
		"credentials in the address":  {mobilemoney.Config{BaseURL: "https://a:b@provider.test", Guard: guard}, false},
		"not an address":              {mobilemoney.Config{BaseURL: "provider", Guard: guard}, false},
		"no breaker is no permission": {mobilemoney.Config{Environment: mobilemoney.Sandbox}, false},
	} {
		if _, err := mobilemoney.NewEndpoint(c.cfg); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValues_HideWhatIsSecretOrPersonal(t *testing.T) {
	t.Parallel()
	q := mobilemoney.PromptRequest{Phone: "0700000001", CallbackURL: "https://isp.test/SECRET"}
	cb := mobilemoney.STKCallback{Phone: "0700000001"}
	paid := mobilemoney.C2B{MSISDN: "0700000001", FirstName: "SECRET", BillRef: "0700000001"}
	secret := mobilemoney.Credentials{
		ConsumerKey: "SECRET", ConsumerSecret: "SECRET", Passkey: "SECRET", ShortCode: "600100",
	}
	text := fmt.Sprintf("%v %+v %v %+v %v %+v %v %+v %#v ", q, q, cb, cb, paid, paid, secret, secret, secret) +
		fmt.Sprint(q.LogValue(), cb.LogValue(), paid.LogValue(), secret.LogValue())
	if strings.Contains(text, "SECRET") || strings.Contains(text, "0700000001") {
		t.Errorf("shown: %s", text)
	}
}
