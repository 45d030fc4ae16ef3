package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Codes of calls that failed. Organizations read them, so that they know what to mend; they say nothing about networks
// that only the platform reaches.
const (
	CodeNotAccepted = "not_accepted"      // the answer is no success: its status says why
	CodeRedirected  = "redirected"        // the answer leads elsewhere, which is not followed
	CodeTimeout     = "timeout"           // no answer in time
	CodeAddress     = "address_refused"   // the address leads nowhere where an endpoint may be
	CodeConnection  = "connection_failed" // nothing takes connections there, or they break
	CodeTLS         = "tls_failed"        // no encryption that can be trusted
	CodeBadAnswer   = "bad_answer"        // the answer is no HTTP, or has too many headers
	CodeInterrupted = "interrupted"       // the platform stopped before there was an answer
)

// Call is one attempt at a delivery.
type Call struct {
	URL     string
	ID      string         // of the message: the same in every attempt
	Body    []byte         // JSON
	Secrets []secrets.Text // "whsec_" and base64: each signs
}

// Outcome tells how an endpoint answered.
type Outcome struct {
	Status int    // of the answer; 0 = there was none
	Code   string // "" = the endpoint has the message
	Took   time.Duration
}

// Send makes one call. Everything that can go wrong is an outcome.
func (c *Client) Send(ctx context.Context, call Call) Outcome {
	began := c.machine.Now()
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	status, err := c.exchange(limited, call, began)
	out := Outcome{Status: status, Took: c.machine.Now().Sub(began)}
	switch {
	case err != nil && ctx.Err() != nil:
		out.Code = CodeInterrupted
	case err != nil:
		out.Code = codeOf(err)
	case status >= 300 && status < 400:
		out.Code = CodeRedirected
	case status < 200 || status > 299:
		out.Code = CodeNotAccepted
	}
	if out.Code == CodeAddress {
		out.Took = 0 // how long it took may tell what there is
	}
	level := slog.LevelDebug
	if out.Code != "" {
		level = slog.LevelInfo
	}
	c.log.Log(ctx, level, "webhook call", "system", "webhook", "target", hostOf(call.URL), "message_id", call.ID,
		"duration", out.Took.String(), "status", out.Status, "outcome", out.Code)
	return out
}

// exchange sends the request and gives the status of the answer.
func (c *Client) exchange(ctx context.Context, call Call, now time.Time) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return 0, egress.ErrRefused
	}
	if err := c.Check(call.URL); err != nil {
		return 0, egress.ErrRefused
	}
	signature, at := Sign(call.ID, now, call.Body, call.Secrets...), strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Lastmile-Webhooks/1")
	req.Header.Set("Webhook-Id", call.ID)
	req.Header.Set("Webhook-Timestamp", at)
	req.Header.Set("Webhook-Signature", signature)
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // nothing can be lost
	patience, over := context.WithTimeout(ctx, readPatience)
	defer over()
	stop := context.AfterFunc(patience, cancel)
	_, _ = io.CopyN(io.Discard, res.Body, mostRead) // so that the connection can be used again; the status is enough
	stop()
	return res.StatusCode, nil
}

// codeOf is the code of a call without an answer.
func codeOf(err error) string {
	var (
		timeout     interface{ Timeout() bool }
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		authority   x509.UnknownAuthorityError
		host        x509.HostnameError
		invalid     x509.CertificateInvalidError
		op          *net.OpError
	)
	switch {
	case errors.Is(err, egress.ErrRefused), errors.Is(err, egress.ErrSpelling):
		return CodeAddress
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return CodeTimeout
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &authority), errors.As(err, &host),
		errors.As(err, &invalid):
		return CodeTLS
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"):
		return CodeTLS
	case errors.As(err, &op), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed):
		return CodeConnection
	case strings.Contains(err.Error(), "tls: "), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		// the libraries have no types for the other faults of a handshake
		return CodeTLS
	}
	return CodeBadAnswer
}

// hostOf names an endpoint in the log; the rest of its address may be a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
