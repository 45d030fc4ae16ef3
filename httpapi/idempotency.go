package httpapi

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Answer is a stored answer.
type Answer struct {
	Status      int
	ContentType string
	ETag        string
	Body        []byte
}

// Begun is what Idempotency.Begin found. At most one of Running, Mismatch and Stored is set; none means go ahead.
type Begun struct {
	Running    bool          // another request holds the key
	RetryAfter time.Duration // with Running: until its lease ends at the latest
	Mismatch   bool          // the key was used with another body
	Stored     *Answer
	Lease      id.Any // proves later that the key is still ours
}

// Idempotency keeps the first successful answer of each key for 24 h, encrypted, and a running mark as a lease of 60 s
// (rules.md 22).
type Idempotency interface {
	Begin(ctx context.Context, key id.Command, fingerprint [32]byte) (Begun, error)
	// Finish stores the answer; a lost lease stores nothing.
	Finish(ctx context.Context, key id.Command, lease id.Any, answer Answer) error
	// Release clears the key: the request failed and may be tried again.
	Release(ctx context.Context, key id.Command, lease id.Any) error
}

// settleLimit bounds the storing of an answer, also when the client went away.
const settleLimit = 5 * time.Second

// once runs the handler; with an Idempotency-Key at most once per key.
func (s *Server) once(ctx context.Context, c *Call) error {
	key := c.Request.Header.Get("Idempotency-Key")
	if key == "" || !c.route.mutates() || c.route.IgnoresIdempotency {
		return c.route.Handle(ctx, c)
	}
	if !validKey(key) {
		return failure.NewMalformed("bad_idempotency_key", "Idempotency-Key must be 1 to 255 visible characters.")
	}
	c.command = id.Derive[id.Command]("request", c.Caller.UserID.String(), c.Request.Method, c.host, c.Request.URL.Path, key)
	c.keyed = true
	begun, err := s.cfg.Idempotency.Begin(ctx, c.command, c.fingerprint())
	switch {
	case err != nil:
		return err
	case begun.Mismatch:
		return failure.NewInvalid("idempotency_key_reused", "Idempotency-Key was used with another body")
	case begun.Running:
		f := failure.NewConflict("idempotency_key_running", "A request with this Idempotency-Key is still running.")
		f.RetryAfter = begun.RetryAfter
		return f
	case begun.Stored != nil:
		return c.replay(*begun.Stored)
	}
	return s.runOnce(ctx, c, begun.Lease)
}

// runOnce runs the handler and settles the key before the client sees the answer.
func (s *Server) runOnce(ctx context.Context, c *Call, lease id.Any) error {
	rec := c.Writer.(*recorder)
	rec.hold()
	answered := false
	defer func() { // also after a panic
		s.settle(ctx, c, lease, answered && rec.status/100 == 2)
		rec.release(answered)
	}()
	err := c.route.Handle(ctx, c)
	answered = err == nil && rec.wrote
	return err
}

// settle stores the answer or clears the key. A failure here is logged only: the work itself is done, and the command id
// keeps a repeat from acting twice.
func (s *Server) settle(ctx context.Context, c *Call, lease id.Any, success bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	rec := c.Writer.(*recorder)
	var err error
	if success {
		h := rec.Header()
		err = s.cfg.Idempotency.Finish(ctx, c.command, lease, Answer{Status: rec.status, ContentType: h.Get("Content-Type"),
			ETag: h.Get("ETag"), Body: rec.held.Bytes()})
	} else {
		err = s.cfg.Idempotency.Release(ctx, c.command, lease)
	}
	if err != nil {
		s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "idempotency key not settled", slog.String("request_id", c.RequestID),
			slog.Bool("success", success), slog.String("error", err.Error()))
	}
}

// replay answers as the first time.
func (c *Call) replay(a Answer) error {
	h := c.Writer.Header()
	h.Set("Idempotency-Replayed", "true")
	if a.ETag != "" {
		h.Set("ETag", a.ETag)
	}
	if a.ContentType != "" {
		h.Set("Content-Type", a.ContentType)
	}
	c.Writer.WriteHeader(a.Status)
	if a.Status != http.StatusNoContent {
		_, _ = c.Writer.Write(a.Body) // a reader that went away is no failure of ours
	}
	return nil
}

// fingerprint tells one request under a key from another: query and body.
func (c *Call) fingerprint() [32]byte {
	return sha256.Sum256(append([]byte(c.Request.URL.RawQuery+"\x00"), c.body...))
}

// validKey tells whether the header's text is 1 to 255 visible ASCII characters.
func validKey(key string) bool {
	if len(key) > 255 {
		return false
	}
	for _, b := range []byte(key) {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}
