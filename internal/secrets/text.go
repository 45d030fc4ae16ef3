package secrets

import (
	"fmt"
	"io"
	"log/slog"
)

// Hidden is shown in place of every secret, whatever its length.
const Hidden = "********"

// Text is a secret in memory: a password, a key, a token. fmt, slog and JSON show Hidden; only Reveal gives the value.
// JSON and the environment are read into it as into a string.
type Text string

// Reveal gives the value itself: the result must not be logged or put into an event.
func (t Text) Reveal() string { return string(t) }

// IsZero reports whether the text is empty, which means that no secret was given.
func (t Text) IsZero() bool { return t == "" }

// String gives Hidden, also for the empty text.
func (t Text) String() string { return Hidden }

// Format writes Hidden for every verb of fmt, %#v and %x included.
func (t Text) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Hidden) }

// LogValue gives Hidden, so that an attribute of a log line never holds the value.
func (t Text) LogValue() slog.Value { return slog.StringValue(Hidden) }

// MarshalText gives Hidden to JSON and other encoders; an empty secret stays empty, so that answers show whether one
// is set.
func (t Text) MarshalText() ([]byte, error) {
	if t == "" {
		return nil, nil
	}
	return []byte(Hidden), nil
}

// UnmarshalText takes the bytes as they are, without trimming. It never fails.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text(text)
	return nil
}
