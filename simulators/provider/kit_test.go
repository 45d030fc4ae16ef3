package provider_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock, in UTC: noon in East Africa.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// Shortcode and phone of every test that needs no others.
const (
	shortCode = "600100"
	passkey   = "passkey"
	payer     = "254700000001"
	stamp     = "20260302120000"
)

// kit has a running simulator, an ISP's server that collects callbacks, and a token.
type kit struct {
	*provider.Simulator
	t     *testing.T
	clock *clock.Manual
	hook  *httptest.Server
	http  *http.Client
	token string

	mu       sync.Mutex
	received []message
	validate func(message) any // answers validation; accepts when nil
}

// message is one callback in the form in which it arrived.
type message struct {
	path string
	body map[string]any
}

// newKit starts a simulator and stops it with the test.
func newKit(t *testing.T, cfg provider.Config) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start), http: &http.Client{Transport: &http.Transport{}}}
	cfg.Clock = k.clock
	k.Simulator = provider.New(cfg)
	if err := k.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.hook = httptest.NewServer(http.HandlerFunc(k.receive))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
		defer cancel()
		k.http.CloseIdleConnections()
		if err := k.Stop(ctx); err != nil {
			t.Error(err)
		}
		k.hook.Close()
	})
	k.token = k.newToken("key", "secret")
	return k
}

// receive stores a callback and answers it as an ISP does.
func (k *kit) receive(w http.ResponseWriter, r *http.Request) {
	m := message{path: r.URL.Path}
	if err := json.NewDecoder(r.Body).Decode(&m.body); err != nil {
		k.t.Errorf("callback body: %v", err)
	}
	k.mu.Lock()
	k.received = append(k.received, m)
	validate := k.validate
	k.mu.Unlock()
	var reply any = map[string]any{"ResultCode": 0, "ResultDesc": "Accepted"}
	if m.path == "/validation" && validate != nil {
		reply = validate(m)
	}
	_ = json.NewEncoder(w).Encode(reply)
}

// messages waits until the simulator is idle and gives the callbacks to a path.
func (k *kit) messages(path string) []map[string]any {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []map[string]any
	for _, m := range k.received {
		if m.path == path {
			found = append(found, m.body)
		}
	}
	return found
}

// do makes a request and decodes the answer; err is a transport error.
func (k *kit) do(method, path, token string, body any) (int, map[string]any, error) {
	k.t.Helper()
	payload, err := json.Marshal(body)
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(k.t.Context(), method, k.URL()+path, bytes.NewReader(payload))
	if err != nil {
		k.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w, err := k.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	var answer map[string]any
	if json.Unmarshal(text, &answer) != nil {
		answer = map[string]any{"text": string(text)}
	}
	return w.StatusCode, answer, err
}

// must makes a request and fails the test on another status.
func (k *kit) must(status int, method, path string, body any) map[string]any {
	k.t.Helper()
	got, answer, err := k.do(method, path, k.token, body)
	if err != nil || got != status {
		k.t.Fatalf("%s %s: status %d, want %d; %v %v", method, path, got, status, answer, err)
	}
	return answer
}

// newToken fetches a token and fails the test without one.
func (k *kit) newToken(key, secret string) string {
	k.t.Helper()
	r, _ := http.NewRequestWithContext(k.t.Context(), http.MethodGet,
		k.URL()+"/oauth/v1/generate?grant_type=client_credentials", nil)
	r.SetBasicAuth(key, secret)
	w, err := k.http.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer w.Body.Close()
	var body struct {
		Token   string `json:"access_token"`
		Expires string `json:"expires_in"` // a string: docs/facts/mobile-money.md#token
	}
	if err := json.NewDecoder(w.Body).Decode(&body); err != nil {
		k.t.Fatal(err)
	}
	return body.Token
}

// password makes the password of a shortcode at the test's instant.
func password(shortCode, passkey string) string {
	return base64.StdEncoding.EncodeToString([]byte(shortCode + passkey + stamp))
}

// pushBody makes a valid prompt and applies changes to it.
func (k *kit) pushBody(changes map[string]any) map[string]any {
	body := map[string]any{
		"BusinessShortCode": shortCode, "Password": password(shortCode, passkey), "Timestamp": stamp,
		"TransactionType": "CustomerPayBillOnline", "Amount": 150, "PartyA": payer, "PartyB": shortCode,
		"PhoneNumber": payer, "CallBackURL": k.hook.URL + "/stk", "AccountReference": "ACME-0001",
		"TransactionDesc": "Internet",
	}
	for name, value := range changes {
		body[name] = value
	}
	return body
}

// push sends a valid prompt and gives its CheckoutRequestID.
func (k *kit) push(changes map[string]any) string {
	k.t.Helper()
	answer := k.must(http.StatusOK, http.MethodPost, "/mpesa/stkpush/v1/processrequest", k.pushBody(changes))
	if answer["ResponseCode"] != "0" {
		k.t.Fatalf("prompt not accepted: %v", answer)
	}
	return answer["CheckoutRequestID"].(string)
}

// query asks for the result of a prompt and gives ResultCode or errorCode.
func (k *kit) query(checkoutID string) string {
	k.t.Helper()
	_, answer, err := k.do(http.MethodPost, "/mpesa/stkpushquery/v1/query", k.token, map[string]any{
		"BusinessShortCode": shortCode, "Password": password(shortCode, passkey), "Timestamp": stamp,
		"CheckoutRequestID": checkoutID,
	})
	if err != nil {
		k.t.Fatal(err)
	}
	if code, ok := answer["errorCode"]; ok {
		return fmt.Sprint(code)
	}
	return fmt.Sprint(answer["ResultCode"])
}

// register registers the kit's C2B addresses.
func (k *kit) register(responseType string) {
	k.t.Helper()
	k.must(http.StatusOK, http.MethodPost, "/mpesa/c2b/v2/registerurl", map[string]any{
		"ShortCode": shortCode, "ResponseType": responseType,
		"ConfirmationURL": k.hook.URL + "/confirmation", "ValidationURL": k.hook.URL + "/validation",
	})
}

// results gives the ResultCodes of prompt callbacks, in their order.
func results(messages []map[string]any) []float64 {
	var codes []float64
	for _, m := range messages {
		codes = append(codes, stk(m)["ResultCode"].(float64))
	}
	return codes
}

// stk gives the inner part of a prompt callback.
func stk(m map[string]any) map[string]any {
	return m["Body"].(map[string]any)["stkCallback"].(map[string]any)
}

// metadata gives the value of a named item of a prompt callback.
func metadata(m map[string]any, name string) (any, bool) {
	for _, entry := range stk(m)["CallbackMetadata"].(map[string]any)["Item"].([]any) {
		if e := entry.(map[string]any); e["Name"] == name {
			return e["Value"], true
		}
	}
	return nil, false
}
