package mobilemoney_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock, in UTC: noon in East Africa.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// payer is the phone of every prompt, in the provider's form.
const payer = "254700000001"

// creds is the credential set of every test.
var creds = mobilemoney.Credentials{
	ConsumerKey: "key", ConsumerSecret: "secret", ShortCode: "600100", Passkey: "passkey",
}

// kit has a client and its breaker in front of a running simulator, and a server that receives its callbacks.
type kit struct {
	*mobilemoney.Client
	t        *testing.T
	sim      *provider.Simulator
	endpoint *mobilemoney.Endpoint
	breakers *breaker.Set
	clock    *clock.Manual
	hook     *httptest.Server

	mu     sync.Mutex
	bodies map[string][][]byte // by path, as they came
}

// newKit starts a simulator and stops it with the test.
func newKit(t *testing.T, cfg provider.Config) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start), bodies: map[string][][]byte{}}
	cfg.Clock = k.clock
	k.sim = provider.New(cfg)
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.hook = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		k.mu.Lock()
		k.bodies[r.URL.Path] = append(k.bodies[r.URL.Path], body)
		k.mu.Unlock()
		_, _ = io.WriteString(w, `{"ResultCode":"0","ResultDesc":"Accepted"}`)
	}))
	k.connect(k.sim.URL(), 5*time.Second)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
		defer cancel()
		k.endpoint.Close()
		if err := k.sim.Stop(ctx); err != nil {
			t.Error(err)
		}
		k.hook.Close()
	})
	return k
}

// newKitAt makes a client of a hand-written provider, for answers that the simulator never gives.
func newKitAt(t *testing.T, handle http.HandlerFunc) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start)}
	server := httptest.NewServer(handle)
	k.hook = server
	k.connect(server.URL, time.Second)
	t.Cleanup(func() { k.endpoint.Close(); server.Close() })
	return k
}

// connect makes endpoint, breaker, token cache and client for an address.
func (k *kit) connect(address string, timeout time.Duration) {
	k.t.Helper()
	k.breakers = breaker.New(breaker.Config{Clock: k.clock})
	endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: address, Test: true, Guard: k.breakers, Clock: k.clock, Timeout: timeout,
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.endpoint = endpoint
	k.Client = mobilemoney.New(endpoint, &oneToken{fetch: endpoint.FetchToken})
}

// faults sets the simulator's faults; c2bAlso stays on.
func (k *kit) faults(f provider.Faults) {
	k.t.Helper()
	f.C2BAlso = true
	if err := k.sim.SetFaults(f); err != nil {
		k.t.Fatal(err)
	}
}

// behave sets how the payer's phone answers prompts.
func (k *kit) behave(p provider.Phone) {
	k.t.Helper()
	if err := k.sim.SetPhone(payer, p); err != nil {
		k.t.Fatal(err)
	}
}

// request makes a valid prompt of 149.50 shillings.
func (k *kit) request() mobilemoney.PromptRequest {
	return mobilemoney.PromptRequest{
		Phone: "0700000001", Amount: money.Of(14950, money.KES), CallbackURL: k.hook.URL + "/stk",
		AccountReference: "ACME-0001", Description: "Internet",
	}
}

// prompt sends a prompt and fails the test on another outcome.
func (k *kit) prompt(want mobilemoney.Outcome) mobilemoney.PromptAnswer {
	k.t.Helper()
	answer, err := k.Prompt(k.t.Context(), creds, k.request())
	if answer.Outcome != want || (err != nil) != (want == mobilemoney.NotSent) {
		k.t.Fatalf("outcome %s, want %s; refusal %v, cause %v, error %v", answer.Outcome, want, answer.Refusal,
			answer.Cause, err)
	}
	return answer
}

// query asks for the result of a prompt and fails the test on another status.
func (k *kit) query(checkoutID string, want mobilemoney.Status) mobilemoney.Verdict {
	k.t.Helper()
	verdict, err := k.QueryPrompt(k.t.Context(), creds, checkoutID)
	if err != nil || verdict.Status != want {
		k.t.Fatalf("verdict %+v, want %s; error %v", verdict, want, err)
	}
	return verdict
}

// idle waits until the simulator has no callback left to send.
func (k *kit) idle() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.sim.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
}

// received gives the callback bodies of a path, once the simulator is idle.
func (k *kit) received(path string) [][]byte {
	k.t.Helper()
	k.idle()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bodies[path]
}

// oneToken is a TokenSource that keeps the last token of one credential set until it is dropped; the program's is the
// vault's. Safe for concurrent use.
type oneToken struct {
	fetch func(context.Context, mobilemoney.Credentials) (string, error)
	mu    sync.Mutex
	last  string
}

// Token implements mobilemoney.TokenSource; other callers wait for a fetch.
func (o *oneToken) Token(ctx context.Context, c mobilemoney.Credentials) (token string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == "" {
		o.last, err = o.fetch(ctx, c)
	}
	return o.last, err
}

// Drop implements mobilemoney.TokenSource.
func (o *oneToken) Drop(_ context.Context, _ mobilemoney.Credentials, stale string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == stale {
		o.last = ""
	}
}
