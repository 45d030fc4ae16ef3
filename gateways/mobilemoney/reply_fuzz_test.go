package mobilemoney

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// reply is a transport that answers every request alike, without a network.
type reply struct {
	status int
	body   []byte
}

// RoundTrip gives the answer, and tells like a connection that the request was sent.
func (r reply) RoundTrip(q *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(q.Context()).GotConn(httptrace.GotConnInfo{})
	return &http.Response{StatusCode: r.status, Body: io.NopCloser(bytes.NewReader(r.body)), Request: q}, nil
}

// closed is a breaker that lets every call through.
type closed struct{}

// Do runs the call.
func (closed) Do(ctx context.Context, _, _ string, call func(context.Context) error) error {
	return call(ctx)
}

// Ready is always ready.
func (closed) Ready(string, string) error { return nil }

// token is a source with one token.
type token struct{}

// Token never fails.
func (token) Token(context.Context, Credentials) (string, error) { return "t", nil }

// Drop keeps the token.
func (token) Drop(context.Context, Credentials, string) {}

// seedReplies adds answers of each form, with each status that has a meaning of its own.
func seedReplies(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `null`, `<html>`, `{"CheckoutRequestID":"c","ResponseCode":"0","ResultCode":"0"}`,
		`{"CheckoutRequestID":"c","ResponseCode":0,"ResultCode":1032,"ResultDesc":"cancelled"}`,
		`{"ResponseCode":"00000000"}`, `{"ResponseCode":"1","ResponseDescription":"no"}`, `{"access_token":"t"}`,
		`{"requestId":"r","errorCode":"500.001.1001","errorMessage":"busy"}`, `{"errorCode":404.00103}`,
	} {
		for _, status := range []int{200, 202, 400, 401, 500, 504} {
			f.Add(status, []byte(body))
		}
	}
}

// FuzzReplies gives the answer of a provider to each call. A prompt counts as accepted or refused only when the answer
// says so; what a query and a registration do not say is no success.
func FuzzReplies(f *testing.F) {
	seedReplies(f)
	creds := Credentials{ConsumerKey: "key", ConsumerSecret: "secret", ShortCode: "600100", Passkey: "passkey"}
	q := PromptRequest{
		Phone: "0700000001", Amount: money.Major(1, money.KES), CallbackURL: "https://isp.test/c",
		AccountReference: "ACME-0001", Description: "Internet",
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := &Endpoint{
			base: "https://provider.test", host: "provider.test", guard: closed{}, clock: clock.System(),
			log: slog.New(slog.DiscardHandler), timeout: 1 << 40, http: &http.Client{
				Transport: reply{status, body}, CheckRedirect: newHTTPClient().CheckRedirect,
			},
		}
		c := New(e, token{})
		var said struct {
			CheckoutRequestID, ResponseCode, ResultCode text
			Code                                        text `json:"errorCode"`
			Token                                       any  `json:"access_token"`
		}
		_ = json.Unmarshal(body, &said)
		answer := readPrompt(result{status: status, body: body, sent: true})
		switch answer.Outcome {
		case Accepted:
			if status != http.StatusOK || answer.CheckoutRequestID == "" || said.ResponseCode != "0" {
				t.Errorf("%d %q is accepted as %+v", status, body, answer)
			}
		case Refused:
			if answer.Refusal == nil || answer.Refusal.Code == "" || answer.Refusal.Code == "0" {
				t.Errorf("%d %q is refused with %+v", status, body, answer.Refusal)
			}
		case InDoubt:
			if answer.Cause == nil {
				t.Errorf("%d %q is in doubt without a cause", status, body)
			}
		case NotSent:
			t.Errorf("%d %q was not sent", status, body)
		}
		if sent, err := c.Prompt(t.Context(), creds, q); err != nil || sent.Outcome == NotSent {
			t.Errorf("%d %q: %+v, %v", status, body, sent, err)
		}
		verdict, err := c.QueryPrompt(t.Context(), creds, "c")
		if err == nil && verdict.Status == Success && (status != http.StatusOK || said.ResultCode != "0") {
			t.Errorf("%d %q is the verdict %+v", status, body, verdict)
		}
		known(t, err)
		err = c.RegisterURLs(t.Context(), creds, URLs{Confirmation: "https://a.test", Validation: "https://b.test"})
		if err == nil && (status != http.StatusOK || said.ResponseCode == "") {
			t.Errorf("%d %q registers", status, body)
		}
		known(t, err)
		got, err := e.FetchToken(t.Context(), creds)
		if (err == nil) != (got != "") || err == nil && status != http.StatusOK {
			t.Errorf("%d %q is the token %q, %v", status, body, got, err)
		}
		known(t, err)
	})
}

// known wants an error to be one that callers tell to people: unavailable, or the provider's refusal.
func known(t *testing.T, err error) {
	t.Helper()
	var f *failure.Error
	if err != nil && (!errors.As(err, &f) || f.Kind != failure.Unavailable && f.Kind != failure.Refused ||
		f.Code == "") {
		t.Errorf("failed with %v", err)
	}
}

// FuzzInstant checks that an accepted time is the one that was written.
func FuzzInstant(f *testing.F) {
	for _, seed := range []string{
		"20260302120000", "20260302120000.5", "19991231235959", "20240229000000", "20230229000000", "2026030212000",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		at := instant(text(given))
		if !at.IsZero() && at.In(eastAfrica).Format(stampLayout) != given {
			t.Errorf("%q is %s", given, at)
		}
	})
}
