package mobilemoney_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestQuery_VerdictOfEachBehaviour(t *testing.T) {
	t.Parallel()
	for behaviour, want := range map[string]mobilemoney.Verdict{
		"pay": {Status: mobilemoney.Success, Code: "0"}, "cancel": {Status: mobilemoney.Cancelled, Code: "1032"},
		"wrong_pin": {Status: mobilemoney.Failed, Code: "2001"}, "insufficient": {
			Status: mobilemoney.Failed, Code: "1",
		},
		"busy": {Status: mobilemoney.Failed, Code: "1001"}, "internal": {Status: mobilemoney.Failed, Code: "17"},
		"no_answer": {Status: mobilemoney.Pending, Code: "1037"}, "expired": {
			Status: mobilemoney.Pending, Code: "1019",
		},
		"undeliverable": {Status: mobilemoney.Pending, Code: "1025"}, "late_success": {
			Status: mobilemoney.Success, Code: "0",
		},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, provider.Config{})
			k.behave(provider.Phone{Behaviour: behaviour})
			id := k.prompt(mobilemoney.Accepted).CheckoutRequestID
			k.idle()
			got := k.query(id, want.Status)
			if got.Code != want.Code || got.Text == "" {
				t.Errorf("verdict %+v", got)
			}
			for i, body := range k.received("/stk") { // the callback has the same result, also for late_success
				c, err := mobilemoney.ParseSTKCallback(body)
				if err != nil || i == len(k.received("/stk"))-1 && behaviour != "late_success" && c.Verdict() != got {
					t.Errorf("callback %v says %+v, %v", c, c.Verdict(), err)
				}
			}
		})
	}
}

func TestQuery_OpenPromptHasNoVerdict(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.behave(provider.Phone{Behaviour: "silent"})
	id := k.prompt(mobilemoney.Accepted).CheckoutRequestID
	for _, code := range []string{"4999", "500.001.1001", "4999"} {
		if got := k.query(id, mobilemoney.NoVerdict); got.Code != code {
			t.Errorf("code %s, want %s", got.Code, code)
		}
	}
	if err := k.Ready(); err != nil {
		t.Errorf("breaker: %v", err)
	}
}

func TestQuery_DroppedCallbackStillSucceeds(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	k.faults(provider.Faults{DropCallbacks: 1})
	id := k.prompt(mobilemoney.Accepted).CheckoutRequestID
	if len(k.received("/stk")) != 0 {
		t.Error("a dropped callback arrived")
	}
	k.query(id, mobilemoney.Success)
}

func TestQuery_FailuresAreNoVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		kind   failure.Kind
	}{
		"unknown prompt": {
			400, `{"requestId":"r","errorCode":"400.002.02","errorMessage":"Invalid CheckoutRequestID"}`,
			failure.Refused,
		},
		"another prompt": {
			200, `{"ResponseCode":"0","CheckoutRequestID":"other","ResultCode":"0"}`, failure.Unavailable,
		},
		"no result code": {200, `{"ResponseCode":"0","CheckoutRequestID":"c"}`, failure.Unavailable},
		"null result code": {
			200, `{"ResponseCode":"0","CheckoutRequestID":"c","ResultCode":null}`, failure.Unavailable,
		},
		"not JSON":         {200, `ok`, failure.Unavailable},
		"success in a 500": {500, `{"CheckoutRequestID":"c","ResultCode":"0"}`, failure.Unavailable},
		"server error":     {503, `down`, failure.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKitAt(t, provided(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			verdict, err := k.QueryPrompt(t.Context(), creds, "c")
			if failure.KindOf(err) != c.kind || verdict != (mobilemoney.Verdict{}) {
				t.Errorf("verdict %+v, error %v", verdict, err)
			}
		})
	}
}

func TestQuery_NumbersAreTaken(t *testing.T) {
	t.Parallel()
	k := newKitAt(t, provided(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ResponseCode":0,"ResultCode":1032,"ResultDesc":"Request cancelled by user"}`)
	}))
	k.query("c", mobilemoney.Cancelled)
}

func TestRegister_RefusedAndUnavailable(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	err := k.RegisterURLs(t.Context(), creds, mobilemoney.URLs{
		Confirmation: "https://192.0.2.1/c", Validation: "https://192.0.2.1/v",
	})
	var refusal *mobilemoney.Refusal
	if failure.CodeOf(err) != "provider_refused" || !errors.As(err, &refusal) || refusal.Code != "400.002.02" {
		t.Errorf("error is %v", err)
	}
	if err := k.RegisterURLs(t.Context(), creds, mobilemoney.URLs{}); failure.KindOf(err) != failure.Invalid {
		t.Errorf("no addresses: %v", err)
	}
	k.faults(provider.Faults{Down: true})
	if err := k.RegisterURLs(t.Context(), creds,
		mobilemoney.URLs{Confirmation: k.hook.URL,
			Validation: k.hook.URL}); failure.KindOf(err) != failure.Unavailable {
		t.Errorf("down: %v", err)
	}
	odd := newKitAt(t, provided(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ResponseCode":"00000000","ResponseDescription":"Success"}`)
	}))
	if err := odd.RegisterURLs(t.Context(), creds,
		mobilemoney.URLs{Confirmation: "https://a.test", Validation: "https://b.test"}); err != nil {
		t.Errorf("zeros: %v", err)
	}
}

func TestToken_WrongCredentialsAreRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	if err := k.sim.AddCredentials("key", "another", "", ""); err != nil {
		t.Fatal(err)
	}
	answer, err := k.Prompt(t.Context(), creds, k.request())
	if answer.Outcome != mobilemoney.NotSent || failure.CodeOf(err) != "provider_credentials_refused" {
		t.Errorf("outcome %s, error %v", answer.Outcome, err)
	}
	if err := k.Ready(); err != nil {
		t.Errorf("breaker: %v", err)
	}
}

func TestToken_ConcurrentPromptsShareOne(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	var wait sync.WaitGroup
	for round := range 3 {
		if round > 0 {
			k.faults(provider.Faults{InvalidateTokens: true})
		}
		for range 16 {
			wait.Go(func() {
				if answer, err := k.Prompt(t.Context(), creds, k.request()); answer.Outcome != mobilemoney.Accepted {
					t.Errorf("outcome %s, refusal %v, error %v", answer.Outcome, answer.Refusal, err)
				}
			})
		}
		wait.Wait()
	}
	if got := len(k.sim.Prompts()); got != 48 {
		t.Errorf("%d prompts", got)
	}
}

func TestToken_IsUsedAtAnyLength(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("a", 3000)
	k := newKitAt(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"access_token":"`+token+`","expires_in":"3599"}`)
	})
	if got, err := k.endpoint.FetchToken(t.Context(), creds); err != nil || got != token {
		t.Errorf("%d characters of %d, %v", len(got), len(token), err)
	}
}
