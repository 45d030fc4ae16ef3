// Package null is the way between values whose zero means "absent" and pointers whose nil does: columns and JSON fields
// are null where a state, a row or a request has the zero value.
package null

import (
	"time"
)

// Of is nil for the zero value: no text, no id, no number.
func Of[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Time is nil for the zero time, in whatever zone it is.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Text is nil for a text that is absent or empty.
func Text(text *string) *string {
	if text == nil || *text == "" {
		return nil
	}
	return text
}

// Or is the value behind a pointer, another one for nil.
func Or[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// Zero is the value behind a pointer, the zero value for nil.
func Zero[T any](p *T) T {
	var zero T
	return Or(p, zero)
}
