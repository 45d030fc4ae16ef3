// Package null converts between a zero value that means "absent" and a nil pointer that means the same. Columns and
// JSON fields are null where a state, a row or a request has the zero value.
package null

import (
	"time"
)

// Of returns nil for the zero value, such as an empty text or id, and otherwise a pointer to a copy.
func Of[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Time returns nil for the zero time, in whatever zone.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Text returns nil also for a pointer to an empty text.
func Text(text *string) *string {
	if text == nil || *text == "" {
		return nil
	}
	return text
}

// Or returns the value behind a pointer, or other for nil.
func Or[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// Zero returns the value behind a pointer, or the zero value for nil.
func Zero[T any](p *T) T {
	var zero T
	return Or(p, zero)
}
