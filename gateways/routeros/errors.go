package routeros

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Refusal is a router's no, in its own words. It is the cause of an error of kind failure.Refused.
type Refusal struct {
	Status   int    // of HTTP; 0 over the API protocol
	Category string // of the API protocol; often empty
	Message  string // word for word
}

// Error gives the words.
func (r *Refusal) Error() string { return r.Message }

// Lost is the cause of failure.Unavailable when a connection failed under a call.
type Lost struct {
	// Sent tells that the request may have arrived, so a write may have been applied.
	Sent  bool
	Cause error
}

// Error says what broke.
func (l *Lost) Error() string {
	if l.Sent {
		return "connection lost after the request was sent: " + l.Cause.Error()
	}
	return "router not reached: " + l.Cause.Error()
}

// Unwrap gives what broke.
func (l *Lost) Unwrap() error { return l.Cause }

// ErrMissing is in the chain of errors about an item that is not there; as the outcome of a removal it is good news.
var ErrMissing = errors.New("no such item")

// ErrUnauthorised is in the chain of errors about refused credentials.
var ErrUnauthorised = errors.New("credentials refused")

// duplicate are the words of all releases for an item that exists. Source: docs/facts/routeros.md#errors.
var duplicate = regexp.MustCompile(`already (have|exist)|exists|already added`)

// RefusalOf finds the router's own words in an error, nil without any.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// IsMissing tells whether the item was not there.
func IsMissing(err error) bool { return errors.Is(err, ErrMissing) }

// IsUnauthorised tells whether the router refused name or password.
func IsUnauthorised(err error) bool { return errors.Is(err, ErrUnauthorised) }

// IsDuplicate tells whether the router has such an item already.
func IsDuplicate(err error) bool {
	r := RefusalOf(err)
	return r != nil && duplicate.MatchString(r.Message)
}

// IsDenied tells whether the user lacks a policy for what was asked.
func IsDenied(err error) bool {
	r := RefusalOf(err)
	return r != nil && strings.HasPrefix(r.Message, "not enough permissions")
}

// IsDeviceMode tells whether the router's device mode forbids what was asked: only somebody at the router can change
// it.
func IsDeviceMode(err error) bool {
	r := RefusalOf(err)
	return r != nil && strings.Contains(r.Message, "not allowed by device-mode")
}

// IsUnreachable tells whether there was no answer, or the breaker is open.
func IsUnreachable(err error) bool { return failure.KindOf(err) == failure.Unavailable }

// MayHaveApplied tells whether a write that failed may nevertheless have been applied: read back before repeating it.
func MayHaveApplied(err error) bool {
	var l *Lost
	return errors.As(err, &l) && l.Sent
}

// caused puts a mark and the router's words under one error.
type caused struct {
	mark  error
	words *Refusal
}

// Error gives the router's words.
func (c caused) Error() string { return c.words.Message }

// Unwrap gives mark and words.
func (c caused) Unwrap() []error { return []error{c.mark, c.words} }

// maxWords bounds the words of a router, in bytes: they are shown, recorded and logged.
const maxWords = 2000

// refused makes the error of a router's answer.
func refused(r *Refusal) error {
	if len(r.Message) > maxWords {
		r.Message = strings.ToValidUTF8(r.Message[:maxWords], "") + "…"
	}
	r.Message = printable(r.Message)
	switch {
	case r.Status == http.StatusUnauthorized || strings.HasPrefix(r.Message, "invalid user name or password") ||
		r.Message == "cannot log in":
		return &failure.Error{
			Kind: failure.Refused, Code: "router_unauthorised",
			Message: "The router does not accept the API user name or password.", Cause: caused{ErrUnauthorised, r},
		}
	case r.Status == http.StatusNotFound || strings.HasPrefix(r.Message, "no such item"):
		if r.Message == "" || r.Message == http.StatusText(http.StatusNotFound) {
			r.Message = ErrMissing.Error()
		}
		return &failure.Error{
			Kind: failure.Refused, Code: "router_refused", Message: r.Message, Cause: caused{ErrMissing, r},
		}
	}
	return &failure.Error{Kind: failure.Refused, Code: "router_refused", Message: r.Message, Cause: r}
}

// lost makes the error of a broken connection.
func lost(sent bool, cause error) error { return &Lost{Sent: sent, Cause: cause} }

// unavailable makes an error of transport, or the refusal of an open breaker, one that callers can tell. The caller's
// own cancellation stays as it is.
func unavailable(ctx context.Context, err error) error {
	var known *failure.Error
	var wait time.Duration
	switch {
	case errors.As(err, &known) && known.Kind == failure.Unavailable:
		wait = known.RetryAfter
	case known != nil || errors.Is(ctx.Err(), context.Canceled):
		return err
	}
	return failure.NewUnavailable("device_unreachable", "The router cannot be reached at the moment.", wait, err)
}
