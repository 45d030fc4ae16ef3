package mobilemoney

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// maxAnswer bounds an answer, in bytes. Real ones are under 1 KiB. A list of payments may have maxList.
const (
	maxAnswer = 64 << 10
	maxList   = 8 << 20
)

// Codes of the provider that this package acts on. Source: docs/facts/mobile-money.md#error-form.
const (
	codeInvalidToken    = "404.001.03"
	codeStillProcessing = "500.001.1001"
)

// Refusal is an answer in which the provider refuses, with its own code and text.
type Refusal struct {
	Status    int    // of HTTP
	RequestID string // the provider's, for its support
	Code      string // errorCode, or ResponseCode
	Message   string
}

// Error shows code and text; the request id is left to the log.
func (r *Refusal) Error() string { return "provider refused with " + r.Code + ": " + r.Message }

// result holds the answer of one exchange, or the reason why there is none.
type result struct {
	status int
	body   []byte // the whole answer; nil with err
	// sent is false only when it is certain that no byte of the request reached the provider.
	sent bool
	err  error // transport, time-out, breaker, or an answer that is not the provider's own
}

// refusal parses the body as the provider's error form; nil when it has another form.
func (r result) refusal() *Refusal {
	var body struct {
		RequestID text `json:"requestId"`
		Code      text `json:"errorCode"`
		Message   text `json:"errorMessage"`
	}
	if json.Unmarshal(r.body, &body) != nil || body.Code == "" {
		return nil
	}
	return &Refusal{
		Status: r.status, RequestID: string(body.RequestID), Code: string(body.Code), Message: string(body.Message),
	}
}

// invalidToken reports whether the provider refused the token. It checks the token before it acts.
func (r result) invalidToken() bool {
	refusal := r.refusal()
	return r.status == http.StatusUnauthorized || refusal != nil && refusal.Code == codeInvalidToken
}

// failed makes the error of an exchange without a usable answer, for operations that may be repeated.
func (r result) failed(operation string) error {
	if refusal := r.refusal(); refusal != nil {
		return &failure.Error{Kind: failure.Refused, Code: "provider_refused", Message: refusal.Message, Cause: refusal}
	}
	err := r.err
	if err == nil {
		err = fmt.Errorf("answer with status %d cannot be read", r.status)
	}
	return unavailable(fmt.Errorf("%s: %w", operation, err))
}

// unavailable gives a transport error, and the refusal of an open breaker, the code provider_unavailable with its text.
// Any other failure stays as it is.
func unavailable(err error) error {
	var known *failure.Error
	var wait time.Duration
	switch {
	case errors.As(err, &known) && known.Code == "provider_unavailable":
		wait = known.RetryAfter
	case known != nil:
		return err
	}
	return failure.NewUnavailable("provider_unavailable",
		"The payment provider cannot be reached at the moment. Try again later.", wait, err)
}

// exchange sends one request through the breaker, once, and reads its answer. A transport error, a time-out, or a 5xx
// without the provider's error form counts against the provider (docs/rules/engine.md#breaker).
func (e *Endpoint) exchange(ctx context.Context, operation string, r *http.Request) result {
	limit := int64(maxAnswer)
	if operation == operationPull {
		limit = maxList
	}
	var res result
	var connected atomic.Bool
	began := e.clock.Now()
	err := e.guard.Do(ctx, BreakerKind, e.host, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, e.timeout)
		defer cancel()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
		})
		res.status, res.body, res.err = e.roundTrip(r.WithContext(ctx), limit)
		if res.err == nil && res.status >= http.StatusInternalServerError && res.refusal() == nil {
			return fmt.Errorf("status %d without a provider answer", res.status)
		}
		return res.err
	})
	// Before a connection is handed out no byte can have been written; after that the request may have arrived.
	res.sent = connected.Load()
	if err != nil && res.err == nil {
		res.err, res.body = err, nil
	}
	outcome := "answered"
	if res.err != nil {
		outcome = "failed"
	}
	e.log.InfoContext(ctx, "provider call", "system", "mobile_money", "operation", operation, "target", e.host,
		"duration", e.clock.Now().Sub(began), "status", res.status, "outcome", outcome)
	return res
}

// roundTrip makes the HTTP exchange and reads the whole answer, up to a limit in bytes.
func (e *Endpoint) roundTrip(r *http.Request, limit int64) (int, []byte, error) {
	w, err := e.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer w.Body.Close()
	body, err := io.ReadAll(io.LimitReader(w.Body, limit+1))
	switch {
	case err != nil:
		return w.StatusCode, nil, fmt.Errorf("read answer: %w", err)
	case int64(len(body)) > limit:
		return w.StatusCode, nil, errors.New("answer is too large")
	}
	return w.StatusCode, body, nil
}

// call is one request with a JSON body. Extra are headers beside the usual ones; nil = none.
type call struct {
	operation, path string
	extra           map[string]string
	body            any
}

// post sends a request with a bearer token.
func (e *Endpoint) post(ctx context.Context, token string, c call) result {
	payload, err := json.Marshal(c.body)
	if err != nil {
		return result{err: err}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+c.path, bytes.NewReader(payload))
	if err != nil {
		return result{err: err}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	for name, value := range c.extra {
		r.Header.Set(name, value)
	}
	return e.exchange(ctx, c.operation, r)
}
