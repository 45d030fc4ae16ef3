package httpapi

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
)

// recorder notes what is answered, for log and metrics. After hold it keeps the answer back until release, so that an
// idempotent answer is stored before the client sees it.
type recorder struct {
	to     http.ResponseWriter
	call   *Call
	status int
	bytes  int
	wrote  bool
	held   *bytes.Buffer // nil = the answer goes out at once
}

// Header is the answer's header.
func (r *recorder) Header() http.Header { return r.to.Header() }

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.to }

// WriteHeader notes the status; only the first one counts.
func (r *recorder) WriteHeader(status int) {
	if r.wrote {
		return
	}
	r.wrote, r.status = true, status
	if r.held == nil {
		r.to.WriteHeader(status)
	}
}

// Write counts the bytes; without a status before it the status is 200.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.bytes += len(b)
	if r.held != nil {
		return r.held.Write(b)
	}
	return r.to.Write(b)
}

// hold keeps the answer back from now on.
func (r *recorder) hold() { r.held = new(bytes.Buffer) }

// release sends what was held. Without keep it drops it, so that an error can be answered instead.
func (r *recorder) release(keep bool) {
	held := r.held
	r.held = nil
	if !keep {
		r.wrote, r.bytes = false, 0
		return
	}
	r.to.WriteHeader(r.status)
	_, _ = r.to.Write(held.Bytes()) // it fails only when the client has gone
}

// setHeaders sets what every answer carries. Web pages set a policy of their own.
func (s *Server) setHeaders(c *Call) {
	h := c.Writer.Header()
	h.Set("X-Request-Id", c.RequestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Origin, Cookie, Authorization")
	if s.cfg.Production {
		h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
}

// finish logs and counts the request. It shows the route's pattern, never path, query, address or body.
func (s *Server) finish(ctx context.Context, c *Call) {
	rec := c.rec()
	if !rec.wrote {
		rec.WriteHeader(http.StatusOK)
	}
	took := s.cfg.Clock.Now().Sub(c.started)
	method := knownMethod(c.Request.Method)
	s.metrics.requests.WithLabelValues(method, c.pattern(), strconv.Itoa(rec.status)).Inc()
	if c.route == nil || !c.route.Stream { // how long one was open says nothing about the server
		s.metrics.seconds.WithLabelValues(method, c.pattern()).Observe(took.Seconds())
	}
	attrs := []slog.Attr{
		slog.String("request_id", c.RequestID), slog.String("method", method), slog.String("route", c.pattern()),
		slog.Int("status", rec.status), slog.Int("bytes", rec.bytes), slog.Duration("duration", took),
	}
	if c.code != "" {
		attrs = append(attrs, slog.String("code", c.code))
	}
	if !c.Org.ID.IsZero() {
		attrs = append(attrs, slog.String("org_id", c.Org.ID.String()))
	}
	switch {
	case c.Caller.UserID.IsZero():
	case c.Caller.isKey():
		attrs = append(attrs, slog.String("api_key_id", c.Caller.UserID.String()))
	default:
		attrs = append(attrs, slog.String("user_id", c.Caller.UserID.String()))
	}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// knownMethod keeps the metrics' label to a few values: an unusual method is "other".
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
		http.MethodOptions:
		return m
	}
	return "other"
}
