// Package failure is the one error type that crosses layers: a kind that decides the HTTP status, a stable code that
// clients may switch on, and a message that is safe to show to a customer.
package failure

import (
	"errors"
	"fmt"
	"time"
)

// Kind decides the HTTP status and says who can act on the failure. An error that is not an Error is Internal.
type Kind uint8

// The kinds, in the order of their HTTP statuses.
const (
	// Internal is an unexpected failure (500): details go to the log only.
	Internal Kind = iota
	// Malformed is input that cannot be read, or a required field that is missing (400).
	Malformed
	// Unauthenticated is a missing, expired or wrong proof of identity (401).
	Unauthenticated
	// Denied is a known caller without the right (403).
	Denied
	// NotFound is absent, or of another tenant (404).
	NotFound
	// Conflict is valid input that the present state refuses (409).
	Conflict
	// Stale is a failed If-Match (412).
	Stale
	// TooLarge is a body over its limit (413).
	TooLarge
	// Invalid is well-formed input with a wrong value (422).
	Invalid
	// Limited is a caller over a rate limit (429).
	Limited
	// Refused is an outside system that answered no, in its own words (502).
	Refused
	// Unavailable is a dependency that cannot be reached now (503).
	Unavailable
)

// Error is a failure that somebody outside the code can act on.
type Error struct {
	Kind    Kind
	Code    string   // snake_case, stable, part of the API
	Message string   // a sentence, safe for customers; one text for each code (docs/errors.md)
	Faults  []string // Invalid and Malformed only: one entry for each fault, naming its field
	Values  []string // the facts in the message, in its order
	// Details are further fields of the answer, by their names in it: what a program needs to go on, such as the number
	// of sessions that a change disconnects. Safe for customers; nil = none.
	Details map[string]any
	// RetryAfter is set on Limited and Unavailable when the time to wait is known.
	RetryAfter time.Duration
	Cause      error // for the log only
}

// Error joins code, message, faults and cause, for logs only: the cause may hold details that customers must not see.
func (e *Error) Error() string {
	text := e.Code
	if e.Message != "" {
		text += ": " + e.Message
	}
	for _, f := range e.Faults {
		text += "; " + f
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap lets errors.Is and errors.As reach the cause; nil when there is none.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes two failures equal when kind and code are, so that errors.Is works with sentinels.
func (e *Error) Is(target error) bool {
	var t *Error
	if !errors.As(target, &t) {
		return false
	}
	return t.Kind == e.Kind && t.Code == e.Code
}

// New makes a failure. Only with args is the message a format, so a message without them may hold a % sign.
func New(kind Kind, code, message string, args ...any) *Error {
	var values []string
	for _, arg := range args {
		values = append(values, fmt.Sprint(arg))
	}
	if len(args) > 0 {
		message = fmt.Sprintf(message, args...)
	}
	return &Error{Kind: kind, Code: code, Message: message, Values: values}
}

// NewMalformed makes a 400: the client has to repair its request.
func NewMalformed(code, message string, args ...any) *Error {
	return New(Malformed, code, message, args...)
}

// NewUnauthenticated makes a 401: the caller has to sign in.
func NewUnauthenticated(code, message string, args ...any) *Error {
	return New(Unauthenticated, code, message, args...)
}

// NewDenied makes a 403: signing in again does not help.
func NewDenied(code, message string, args ...any) *Error { return New(Denied, code, message, args...) }

// NewNotFound makes a 404, the answer also for what another organization owns.
func NewNotFound(code, message string, args ...any) *Error {
	return New(NotFound, code, message, args...)
}

// NewConflict makes a 409: the same request may succeed when the state has changed.
func NewConflict(code, message string, args ...any) *Error {
	return New(Conflict, code, message, args...)
}

// NewInvalid makes a 422 with one entry for each input fault. Each entry begins with the field's name; a sentence about
// no field is a message, for New.
func NewInvalid(code string, faults ...string) *Error {
	return &Error{Kind: Invalid, Code: code, Faults: faults}
}

// NewUnavailable makes a 503. A retryAfter of 0 means that the time to wait is not known; the cause is for the log.
func NewUnavailable(code, message string, retryAfter time.Duration, cause error) *Error {
	return &Error{Kind: Unavailable, Code: code, Message: message, RetryAfter: retryAfter, Cause: cause}
}

// NewLimited makes a 429. A retryAfter of 0 means that the time to wait is not known.
func NewLimited(code, message string, retryAfter time.Duration) *Error {
	return &Error{Kind: Limited, Code: code, Message: message, RetryAfter: retryAfter}
}

// With copies the failure and adds a field to its answer; a field of the same name is replaced. The original stays
// unchanged.
func (e *Error) With(field string, value any) *Error {
	out := *e
	out.Details = map[string]any{field: value}
	for name, known := range e.Details {
		if name != field {
			out.Details[name] = known
		}
	}
	return &out
}

// KindOf finds the first Error in the chain of err and gives its kind; Internal when there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// CodeOf finds the first Error in the chain of err and gives its code; "" when there is none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Faults collects input faults. The zero value is empty and ready for use.
type Faults []string

// Add appends one fault: the field's name and the text, which is a format when args are given. The text has a code, by
// which pages say it in other languages, if it stands in faultTexts.
func (f *Faults) Add(field, text string, args ...any) {
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	*f = append(*f, field+" "+text)
}

// Check adds a fault when ok is false.
func (f *Faults) Check(ok bool, field, text string, args ...any) {
	if !ok {
		f.Add(field, text, args...)
	}
}

// Err makes one Invalid failure of all faults; nil when there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return NewInvalid("invalid_input", f...)
}
