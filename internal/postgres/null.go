package postgres

import "time"

// NullTime gives nil, which SQL writes as null, for the zero time.
func NullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
