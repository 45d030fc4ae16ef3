// Package personal has the type of every field that identifies a human being. In an event it is written only sealed
// with a key of its subject; when that key is destroyed it reads as erased. A text that was never sealed refuses to be
// written as JSON, so that a forgotten codec cannot leak it.
package personal

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
)

// Text is one personal field. The zero value is an empty text.
type Text struct {
	plain  string
	sealed []byte
	erased bool
}

// Of makes a personal text.
func Of(plain string) Text { return Text{plain: plain} }

// Reveal is the text, "" when it is empty, erased or not opened yet.
func (t Text) Reveal() string { return t.plain }

// Erased tells whether the subject was forgotten.
func (t Text) Erased() bool { return t.erased }

// IsZero tells whether the text is empty; omitzero uses it.
func (t Text) IsZero() bool { return t.plain == "" && len(t.sealed) == 0 && !t.erased }

// Equal compares what is revealed; go-cmp uses it.
func (t Text) Equal(u Text) bool { return t.plain == u.plain && t.erased == u.erased }

// String hides the text from fmt.
func (t Text) String() string { return "[personal]" }

// LogValue hides the text from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue("[personal]") }

// errUnsealed is a programming error: personal text may be written by the codec only.
var errUnsealed = errors.New("personal text is not sealed")

// sealedForm is how a sealed text looks in JSON.
type sealedForm struct {
	Sealed string `json:"$sealed"`
}

// MarshalJSON writes the sealed form.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	if len(t.sealed) == 0 {
		return nil, errUnsealed
	}
	return json.Marshal(sealedForm{base64.RawStdEncoding.EncodeToString(t.sealed)})
}

// UnmarshalJSON reads the sealed form; the text is not revealed before Open.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == `""` || string(b) == "null" {
		*t = Text{}
		return nil
	}
	var form sealedForm
	if err := json.Unmarshal(b, &form); err != nil {
		return err
	}
	sealed, err := base64.RawStdEncoding.DecodeString(form.Sealed)
	if err != nil || len(sealed) == 0 {
		return errors.New("personal text: not a sealed form")
	}
	*t = Text{sealed: sealed}
	return nil
}

// Seal gives the text sealed by a function; an empty text stays empty.
func (t Text) Seal(seal func(plain []byte) ([]byte, error)) (Text, error) {
	if t.plain == "" {
		return Text{}, nil
	}
	sealed, err := seal([]byte(t.plain))
	if err != nil {
		return Text{}, err
	}
	return Text{plain: t.plain, sealed: sealed}, nil
}

// Open gives the text opened by a function. open is nil when the subject's key is gone: the text is erased then.
func (t Text) Open(open func(sealed []byte) ([]byte, error)) (Text, error) {
	if len(t.sealed) == 0 {
		return t, nil
	}
	if open == nil {
		return Text{erased: true}, nil
	}
	plain, err := open(t.sealed)
	if err != nil {
		return Text{}, err
	}
	return Text{plain: string(plain), sealed: t.sealed}, nil
}
