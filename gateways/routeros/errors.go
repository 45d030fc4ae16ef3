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

// Refusal is an answer in which the router refuses, in its own words. It is the cause of an error of kind
// failure.Refused.
type Refusal struct {
	Status   int    // of HTTP; 0 over the API protocol
	Category string // of the API protocol; often empty
	Message  string // the router's text, unchanged
}

// Error gives the router's text alone: callers show it.
func (r *Refusal) Error() string { return r.Message }

// Lost is the cause of failure.Unavailable when a connection failed during a call.
type Lost struct {
	// Sent is true when the request may have arrived, so that a write may have been applied.
	Sent  bool
	Cause error // nil when the reason is not known
}

// Error begins with the part that an operator needs, whether the request was sent, and gives the reason in words for
// people: it is shown by the breaker, too.
func (l *Lost) Error() string {
	text := "router not reached"
	if l.Sent {
		text = "connection lost after the request was sent"
	}
	if l.Cause == nil {
		return text
	}
	return text + ": " + reason(l.Cause)
}

// Unwrap lets errors.Is find the network's error.
func (l *Lost) Unwrap() error { return l.Cause }

// ErrMissing is in the chain of errors about an item that is not there; a removal may treat it as success.
var ErrMissing = errors.New("no such item")

// ErrUnauthorised is in the chain of errors about refused credentials.
var ErrUnauthorised = errors.New("credentials refused")

// duplicate matches the texts of all releases for an item that exists already. Source: docs/facts/routeros.md#errors.
var duplicate = regexp.MustCompile(`already (have|exist)|exists|already added`)

// RefusalOf finds the router's refusal in an error; nil when there is none.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// IsMissing reports whether the item was not on the router.
func IsMissing(err error) bool { return errors.Is(err, ErrMissing) }

// IsDuplicate reports whether the router refused because it has such an item already.
func IsDuplicate(err error) bool {
	r := RefusalOf(err)
	return r != nil && duplicate.MatchString(r.Message)
}

// IsUnknownMenu reports whether a print was refused because the router has no such menu: its release or packages lack
// it. A router may take the last word of the path for the name of an item, and then says that there is no such item.
func IsUnknownMenu(err error) bool {
	r := RefusalOf(err)
	return r != nil && (strings.HasPrefix(r.Message, "no such command") || IsMissing(err))
}

// IsDenied reports whether the API user lacks a policy for the request.
func IsDenied(err error) bool {
	r := RefusalOf(err)
	return r != nil && strings.HasPrefix(r.Message, "not enough permissions")
}

// MayHaveApplied reports whether a write that failed may have been applied: read back before it is repeated.
func MayHaveApplied(err error) bool {
	var l *Lost
	return errors.As(err, &l) && l.Sent
}

// caused joins a mark for errors.Is with the router's refusal.
type caused struct {
	mark  error
	words *Refusal
}

// Error gives the router's text; the mark is not shown.
func (c caused) Error() string { return c.words.Message }

// Unwrap gives both, so that errors.Is finds the mark and errors.As the refusal.
func (c caused) Unwrap() []error { return []error{c.mark, c.words} }

// maxWords bounds a router's text, in bytes: it is shown, recorded and logged.
const maxWords = 2000

// refused makes the failure of a router's refusal, with a mark for wrong credentials and missing items.
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

// lost makes the error of a broken connection; sent means that the request may have arrived.
func lost(sent bool, cause error) error { return &Lost{Sent: sent, Cause: cause} }

// unavailable gives a transport error, or the refusal of an open breaker, the code device_unreachable. The caller's own
// cancellation stays as it is.
func unavailable(ctx context.Context, err error) error {
	var known *failure.Error
	var wait time.Duration
	switch {
	case errors.As(err, &known) && known.Kind == failure.Unavailable:
		wait = known.RetryAfter
	case known != nil || errors.Is(ctx.Err(), context.Canceled):
		return err
	}
	return ErrUnreachable(wait, err)
}

// ErrUnreachable is the failure of a router that cannot be called now. A wait of 0 means that the time is not known;
// the cause is for the log and for operators.
func ErrUnreachable(wait time.Duration, cause error) error {
	return failure.NewUnavailable("device_unreachable", "The router cannot be reached at the moment. Try again later.",
		wait, cause)
}
