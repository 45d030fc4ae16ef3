package secrets

import (
	"fmt"
	"io"
	"log/slog"
)

// Hidden is what is shown in place of a secret.
const Hidden = "********"

// Text is a secret in memory: a password, a key, a token. fmt, slog and JSON show Hidden, whatever it is; only Reveal
// gives it. It reads from JSON and from the environment like a string.
type Text string

// Reveal is the secret.
func (t Text) Reveal() string { return string(t) }

// IsZero tells whether there is none.
func (t Text) IsZero() bool { return t == "" }

// String hides the secret.
func (t Text) String() string { return Hidden }

// Format hides the secret from every verb.
func (t Text) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Hidden) }

// LogValue hides the secret from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(Hidden) }

// MarshalText hides the secret from JSON and other encoders; an empty one stays empty.
func (t Text) MarshalText() ([]byte, error) {
	if t == "" {
		return nil, nil
	}
	return []byte(Hidden), nil
}

// UnmarshalText takes the secret as it is.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text(text)
	return nil
}
