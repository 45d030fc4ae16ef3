package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// settleLimit bounds the storing of an answer, which goes on when the client has gone.
const settleLimit = 5 * time.Second

// replayed has the headers that are stored with an answer.
var replayed = []string{"Content-Type", "ETag"}

// once runs the handler, with an Idempotency-Key at most once for each key (docs/rules/http.md#idempotency). The id of
// the main command comes from the key's mark, so that a repeat after a lost answer finds what the first try did.
func (s *Server) once(ctx context.Context, c *Call) error {
	given := c.Request.Header.Values("Idempotency-Key")
	if len(given) == 0 || !c.route.mutates() || c.route.IgnoresIdempotency {
		return c.handle(ctx)
	}
	if len(given) > 1 || !validKey(given[0]) {
		return failure.NewMalformed("bad_idempotency_key", "Idempotency-Key must be 1 to 255 visible characters.")
	}
	scope := vault.Scope{OrgID: c.Org.ID, Parts: []string{
		c.Caller.UserID.String(), c.Request.Method, c.host, c.Request.URL.Path, given[0],
	}}
	mark, err := s.cfg.Idempotency.Begin(ctx, scope, c.fingerprint()...)
	if err != nil {
		return err
	}
	switch mark.Outcome {
	case vault.Mismatch:
		return failure.NewInvalid("idempotency_key_reused", "Idempotency-Key was used with another body or query")
	case vault.Running:
		return failure.NewConflict("idempotency_key_running",
			"A request with this Idempotency-Key is still running. Please wait.")
	case vault.Replay:
		// What a customer was told is of another one when the sign-in has lost a subscriber since.
		if c.IsCustomer() && slices.ContainsFunc(mark.Answer.Own, func(s id.Subscriber) bool { return !c.Sees(s) }) {
			return commands.ErrNoSubscriber()
		}
		c.replay(mark.Answer)
		return nil
	case vault.Fresh:
	}
	c.command, c.keyed = mark.Command, true
	return s.runOnce(ctx, c, mark)
}

// handle runs the handler. An act that waits for a second person is answered with 202
// (docs/rules/approvals.md#approvals).
func (c *Call) handle(ctx context.Context) error {
	err := c.route.Handle(ctx, c)
	var waits *usecases.WaitsForApproval
	if !errors.As(err, &waits) {
		return err
	}
	return c.Send(http.StatusAccepted, Accepted{
		ID: waits.ApprovalID.String(), Status: "waiting", ApprovalID: &waits.ApprovalID,
	})
}

// runOnce runs the handler, and settles the key before the client sees the answer.
func (s *Server) runOnce(ctx context.Context, c *Call, mark vault.Mark) error {
	rec := c.rec()
	rec.hold()
	status := http.StatusInternalServerError // of a panic
	answered := false
	defer func() { // also after a panic
		s.settle(ctx, c, mark, status)
		rec.release(answered)
	}()
	err := c.handle(ctx)
	answered = err == nil && rec.wrote
	switch {
	case answered:
		status = rec.status
	case err != nil && ctx.Err() == nil: // a request that was cut has an unknown outcome
		status = statusOf(asFailure(ctx, err))
	}
	return err
}

// settle stores a successful answer, frees the key of a refused request, which acted on nothing, and keeps it after
// every other. A failure of settle itself is logged only: the lease ends by itself, and the command id keeps a repeat
// from acting twice.
func (s *Server) settle(ctx context.Context, c *Call, mark vault.Mark, status int) {
	limit := settleLimit
	if errors.Is(context.Cause(ctx), errStorage) {
		limit = storageSettle
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var err error
	switch status / 100 {
	case 2:
		rec := c.rec()
		answer := vault.Answer{
			Status: rec.status, Header: map[string][]string{}, Body: rec.held.Bytes(), Own: c.Scope(),
		}
		for _, name := range replayed {
			if values := rec.Header().Values(name); len(values) > 0 {
				answer.Header[name] = values
			}
		}
		err = s.cfg.Idempotency.Complete(ctx, mark, answer)
	case 4:
		err = s.cfg.Idempotency.Free(ctx, mark)
	default:
		err = s.cfg.Idempotency.Keep(ctx, mark)
	}
	if err != nil {
		s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "idempotency key not settled",
			slog.String("request_id", c.RequestID), slog.Int("status", status), slog.String("error", err.Error()))
	}
}

// replay sends the stored answer again, byte for byte, with the header Idempotency-Replayed.
func (c *Call) replay(a vault.Answer) {
	h := c.Writer.Header()
	for name, values := range a.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	h.Set("Idempotency-Replayed", "true")
	c.Writer.WriteHeader(a.Status)
	if a.Status != http.StatusNoContent {
		_, _ = c.Writer.Write(a.Body) // it fails only when the client has gone
	}
}

// fingerprint is query and body: another one under the same key is another request, and is refused.
func (c *Call) fingerprint() [][]byte {
	return [][]byte{[]byte(c.Request.URL.RawQuery + "\x00"), c.body}
}

// validKey reports whether a key has 1 to 255 visible ASCII characters.
func validKey(key string) bool {
	if key == "" || len(key) > 255 {
		return false
	}
	for _, b := range []byte(key) {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}
