package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// ErrorBody is the body of every answer from status 400 on, with a stable code (docs/rules/http.md#error-body).
type ErrorBody struct {
	StatusCode int    `json:"statusCode"`
	Message    any    `json:"message" doc:"text, or a list of texts when the input is at fault"`
	Error      string `json:"error" doc:"text of the HTTP status"`
	Code       string `json:"code" doc:"stable and machine-readable, see docs/errors.md"`
	// Values and Faults are for those who say it in another language.
	Values []string     `json:"values,omitempty" doc:"the facts in the message, in its order"`
	Faults []fieldFault `json:"faults,omitempty" doc:"the list of texts, in its order"`
}

// fieldFault is one fault of the input.
type fieldFault struct {
	Field  string     `json:"field"`
	Code   *faultCode `json:"code" doc:"null: only the text says it; more can be added"`
	Values []string   `json:"values" doc:"the facts in the text, in its order"`
}

// faultCode is one of failure.FaultCodes.
type faultCode string

// Texts implements Enumerated.
func (faultCode) Texts() []string { return failure.FaultCodes() }

// faultsOf shows the faults of a failure.
func faultsOf(f *failure.Error) []fieldFault {
	var out []fieldFault
	for _, fault := range f.FieldFaults() {
		values := append([]string{}, fault.Values...)
		out = append(out, fieldFault{Field: fault.Field, Code: null.Of(faultCode(fault.Code)), Values: values})
	}
	return out
}

// text is the body as JSON, with further fields that never replace its own.
func (b ErrorBody) text(details map[string]any) []byte {
	text, _ := json.Marshal(b) // texts and a number always marshal
	if len(details) == 0 {
		return text
	}
	own, more := map[string]any{}, maps.Clone(details)
	_ = json.Unmarshal(text, &own) // just written
	maps.Copy(more, own)
	if whole, err := json.Marshal(more); err == nil {
		return whole
	}
	return text
}

// statuses gives the HTTP status of each kind. Source: docs/rules/engineering.md#failures.
var statuses = map[failure.Kind]int{
	failure.Internal:        http.StatusInternalServerError,
	failure.Malformed:       http.StatusBadRequest,
	failure.Unauthenticated: http.StatusUnauthorized,
	failure.Denied:          http.StatusForbidden,
	failure.NotFound:        http.StatusNotFound,
	failure.Conflict:        http.StatusConflict,
	failure.Stale:           http.StatusPreconditionFailed,
	failure.TooLarge:        http.StatusRequestEntityTooLarge,
	failure.Invalid:         http.StatusUnprocessableEntity,
	failure.Limited:         http.StatusTooManyRequests,
	failure.Refused:         http.StatusBadGateway,
	failure.Unavailable:     http.StatusServiceUnavailable,
}

// statusOfCode has the codes whose status HTTP defines and no kind of failure has.
var statusOfCode = map[string]int{
	"method_not_allowed":     http.StatusMethodNotAllowed,
	"unsupported_media_type": http.StatusUnsupportedMediaType,
}

// asFailure finds the failure in an error's chain. A request that ran out of time, and one that the database did not
// serve for no fault of the request or of its statements, are Unavailable.
// Anything else is Internal, with a text that shows nothing of the error.
func asFailure(ctx context.Context, err error) *failure.Error {
	if errors.Is(err, errStorage) {
		return databaseUnavailable(storageRetry, err)
	}
	var f *failure.Error
	if errors.As(err, &f) && f.Kind != failure.Internal {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return failure.NewUnavailable("timed_out", "The request took too long. Please try again.", 0, err)
	}
	if postgres.Unserved(err) {
		return databaseUnavailable(time.Second, err)
	}
	return &failure.Error{Kind: failure.Internal, Code: "internal", Cause: err,
		Message: "Something unexpected happened. Please try again, and quote the request id if it happens again."}
}

// failureLevel gives the level of a failed request in the log. Nobody expects an error; an outside system that
// refuses or is away is a warning, and the one line about a database that serves nobody is that of its watch.
func failureLevel(status int, err error) (level slog.Level, worth bool) {
	switch {
	case status < http.StatusInternalServerError, errors.Is(err, errStorage):
		return slog.LevelInfo, false
	case status == http.StatusInternalServerError:
		return slog.LevelError, true
	}
	return slog.LevelWarn, true
}

// databaseUnavailable answers while the database cannot do what the request needs.
func databaseUnavailable(retry time.Duration, cause error) *failure.Error {
	return failure.NewUnavailable("database_unavailable", "The service is temporarily unavailable. Please try again.",
		retry, cause)
}

// statusOf is the HTTP status of a failure: by its code where statusOfCode has it, else by its kind.
func statusOf(f *failure.Error) int {
	if status, ok := statusOfCode[f.Code]; ok {
		return status
	}
	return statuses[f.Kind]
}

// SetRetryAfter sets the header that says when to try again, where the failure knows it.
func (c *Call) SetRetryAfter(f *failure.Error) { setRetryAfter(c.Writer, f) }

// setRetryAfter sets Retry-After when the failure says how long to wait.
func setRetryAfter(w http.ResponseWriter, f *failure.Error) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(f.RetryAfter.Seconds())))))
	}
}

// SendFailure answers a request that no Server serves, because the program is starting, in the same form.
func SendFailure(ctx context.Context, w http.ResponseWriter, err error) {
	sendFailure(w, asFailure(ctx, err))
}

// statusGone stands in log and metrics for a request whose client has gone before its answer: nobody reads it.
const statusGone = 499

// gone reports whether a request ended because its client has gone.
func (c *Call) gone(err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(c.Request.Context().Err(), context.Canceled)
}

// fail answers with an error. Causes of internal errors go to the log only. A client that has gone is no error.
func (s *Server) fail(ctx context.Context, c *Call, err error) {
	if c.gone(err) {
		c.rec().WriteHeader(statusGone)
		return
	}
	f := asFailure(ctx, err)
	if c.route != nil && c.route.Failed != nil && !c.rec().wrote {
		f = c.route.Failed(c, f)
	}
	status := statusOf(f)
	c.code = f.Code
	if level, worth := failureLevel(status, err); worth {
		s.cfg.Logger.LogAttrs(ctx, level, "request failed", slog.String("request_id", c.RequestID),
			slog.String("route", c.pattern()), slog.Int("status", status), slog.String("code", f.Code),
			slog.String("error", err.Error()))
	}
	if c.rec().wrote {
		return // too late for another answer
	}
	if c.sendClosed(status) {
		return
	}
	if status >= http.StatusInternalServerError && c.route != nil && c.route.Sorry != nil {
		c.SetRetryAfter(f)
		if c.route.Sorry(c, status) {
			return
		}
	}
	sendFailure(c.Writer, f)
}

// sendFailure is the only place where a failure becomes an answer.
func sendFailure(w http.ResponseWriter, f *failure.Error) {
	h, status := w.Header(), statusOf(f)
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	setRetryAfter(w, f)
	h.Del("ETag")
	body := ErrorBody{StatusCode: status, Message: f.Message, Error: http.StatusText(status), Code: f.Code,
		Values: f.Values, Faults: faultsOf(f)}
	switch {
	case len(f.Faults) > 0:
		body.Message = f.Faults
	case f.Message == "":
		body.Message = http.StatusText(status)
	}
	text := body.text(f.Details)
	h.Set("Content-Type", contentJSON)
	w.WriteHeader(status)
	_, _ = w.Write(text) // it fails only when the client has gone
}
