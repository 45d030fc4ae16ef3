// Package failure is the one error type that crosses layers: a kind that decides the HTTP status, a stable code that
// clients may switch on, and a message that is safe to show to a customer.
package failure

import (
	"errors"
	"fmt"
	"time"
)

// Kind says who can act on a failure; anything that is not an Error is internal.
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
	Message string   // safe for customers
	Faults  []string // Invalid and Malformed only: one entry for each fault, naming its field
	// Details are further fields of the answer, by their names in it: what a program needs to go on, such as the number
	// of sessions that a change disconnects. Safe for customers; nil = none.
	Details map[string]any
	// RetryAfter is set on Limited and Unavailable when the time to wait is known.
	RetryAfter time.Duration
	Cause      error // for the log only
}

// Error gives code, message and cause, for logs.
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

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes two failures equal when kind and code are, so that errors.Is works with sentinels.
func (e *Error) Is(target error) bool {
	var t *Error
	if !errors.As(target, &t) {
		return false
	}
	return t.Kind == e.Kind && t.Code == e.Code
}

// New makes a failure. The message is formatted when args are given.
func New(kind Kind, code, message string, args ...any) *Error {
	if len(args) > 0 {
		message = fmt.Sprintf(message, args...)
	}
	return &Error{Kind: kind, Code: code, Message: message}
}

// NewMalformed is a 400.
func NewMalformed(code, message string, args ...any) *Error {
	return New(Malformed, code, message, args...)
}

// NewUnauthenticated is a 401.
func NewUnauthenticated(code, message string, args ...any) *Error {
	return New(Unauthenticated, code, message, args...)
}

// NewDenied is a 403.
func NewDenied(code, message string, args ...any) *Error { return New(Denied, code, message, args...) }

// NewNotFound is a 404.
func NewNotFound(code, message string, args ...any) *Error {
	return New(NotFound, code, message, args...)
}

// NewConflict is a 409.
func NewConflict(code, message string, args ...any) *Error {
	return New(Conflict, code, message, args...)
}

// NewInvalid is a 422 with one entry for each fault; each entry begins with the field's name.
func NewInvalid(code string, faults ...string) *Error {
	return &Error{Kind: Invalid, Code: code, Faults: faults}
}

// NewUnavailable is a 503.
func NewUnavailable(code, message string, retryAfter time.Duration, cause error) *Error {
	return &Error{Kind: Unavailable, Code: code, Message: message, RetryAfter: retryAfter, Cause: cause}
}

// NewLimited is a 429.
func NewLimited(code, message string, retryAfter time.Duration) *Error {
	return &Error{Kind: Limited, Code: code, Message: message, RetryAfter: retryAfter}
}

// With is the failure with a further field in its answer.
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

// KindOf is the kind of the first Error in the chain, Internal without one.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// CodeOf is the code of the first Error in the chain, "" without one.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Faults collects validation faults; its zero value is ready.
type Faults []string

// Add notes a fault; field first.
func (f *Faults) Add(field, text string, args ...any) {
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	*f = append(*f, field+" "+text)
}

// Check notes a fault unless ok.
func (f *Faults) Check(ok bool, field, text string, args ...any) {
	if !ok {
		f.Add(field, text, args...)
	}
}

// Err is an Invalid failure with all faults, nil without any.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return NewInvalid("invalid_input", f...)
}
