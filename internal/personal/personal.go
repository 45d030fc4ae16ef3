// Package personal has the type of every field that identifies a human being. An event holds such a field only sealed
// (encrypted) with a key of its subject. When that key is destroyed, the field reads as erased. A text that was never
// sealed cannot be written as JSON, so that code without the codec cannot leak it.
package personal

import (
	"bytes"
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
	bare   bool // recorded without a seal, before its field was personal; Open decides whether it is erased
}

// Of makes a personal text from plain text, not sealed yet.
func Of(plain string) Text { return Text{plain: plain} }

// OfAll makes a personal text of each; nil stays nil.
func OfAll(plain []string) []Text {
	if plain == nil {
		return nil
	}
	list := make([]Text, len(plain))
	for i, p := range plain {
		list[i] = Of(p)
	}
	return list
}

// RevealAll returns the plain texts that are neither empty nor erased, never nil.
func RevealAll(list []Text) []string {
	plain := []string{}
	for _, t := range list {
		if t.plain != "" {
			plain = append(plain, t.plain)
		}
	}
	return plain
}

// Reveal returns the plain text, or "" when the text is empty, erased or not opened yet.
func (t Text) Reveal() string { return t.plain }

// Erased reports whether the key of the subject was destroyed, so that nobody can read the text again.
func (t Text) Erased() bool { return t.erased }

// IsZero reports whether the text is empty. The JSON option omitzero uses it.
func (t Text) IsZero() bool { return t.plain == "" && len(t.sealed) == 0 && !t.erased }

// Equal compares the revealed texts; go-cmp uses it. Two texts that are not opened are equal.
func (t Text) Equal(u Text) bool { return t.plain == u.plain && t.erased == u.erased }

// String is the same for every text, so that fmt shows nothing personal.
func (t Text) String() string { return "[personal]" }

// LogValue is the same for every text, so that slog shows nothing personal.
func (t Text) LogValue() slog.Value { return slog.StringValue("[personal]") }

// errUnsealed is a programming error: only the codec may write personal text.
var errUnsealed = errors.New("personal text is not sealed")

// sealedForm is the JSON form of a sealed text: the base64 of the sealed bytes, without padding.
type sealedForm struct {
	Sealed string `json:"$sealed"`
}

// sealedEnd follows the octets.
const sealedEnd = `"}`

// SealedForm begins the JSON of a sealed text; the octets in base64 follow, then `"}`.
const SealedForm = `{"$sealed":"`

// MarshalJSON writes the sealed form, or "" for an empty text. It fails for a text that was not sealed.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	if len(t.sealed) == 0 {
		return nil, errUnsealed
	}
	form := make([]byte, 0, len(SealedForm)+base64.RawStdEncoding.EncodedLen(len(t.sealed))+len(sealedEnd))
	return append(base64.RawStdEncoding.AppendEncode(append(form, SealedForm...), t.sealed), sealedEnd...), nil
}

// BareForm is the JSON of a text that was recorded without a seal. Only upcasters write it, from fields that became
// personal later: the text reads as erased once the key of its subject is destroyed.
func BareForm(plain string) json.RawMessage {
	b, err := json.Marshal(map[string]string{"$bare": plain})
	if err != nil {
		panic(err) // a string never fails
	}
	return b
}

// Bare makes the text that BareForm stands for.
func Bare(plain string) Text { return Text{plain: plain, bare: plain != ""} }

// UnmarshalJSON reads the sealed form, and that of BareForm. Reveal returns "" for a sealed text until it is opened.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == `""` || string(b) == "null" {
		*t = Text{}
		return nil
	}
	if sealed, ok := sealedOf(b); ok { // as it is nearly always
		*t = Text{sealed: sealed}
		return nil
	}
	var form struct {
		sealedForm
		Bare string `json:"$bare"`
	}
	if err := json.Unmarshal(b, &form); err != nil {
		return err
	}
	if form.Bare != "" && form.Sealed == "" {
		*t = Text{plain: form.Bare, bare: true}
		return nil
	}
	sealed, err := base64.RawStdEncoding.DecodeString(form.Sealed)
	if err != nil || len(sealed) == 0 {
		return errors.New("personal text: not a sealed form")
	}
	*t = Text{sealed: sealed}
	return nil
}

// sealedOf reads the form that MarshalJSON writes; false for every other one.
func sealedOf(form []byte) (sealed []byte, ok bool) {
	text, begins := bytes.CutPrefix(form, []byte(SealedForm))
	text, ends := bytes.CutSuffix(text, []byte(sealedEnd))
	if !begins || !ends || bytes.ContainsAny(text, "\"\\\r\n") { // base64 passes over ends of lines
		return nil, false
	}
	sealed, err := base64.RawStdEncoding.AppendDecode(nil, text)
	return sealed, err == nil && len(sealed) > 0
}

// Seal returns the text with the bytes that seal makes of it. An empty text stays empty and is not sealed.
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

// Open returns the text that open makes of the sealed bytes; a bare text stays as it is. open is nil when the subject's
// key is destroyed: then the text is erased.
func (t Text) Open(open func(sealed []byte) ([]byte, error)) (Text, error) {
	if len(t.sealed) == 0 && !t.bare {
		return t, nil
	}
	if open == nil {
		return Text{erased: true}, nil
	}
	if t.bare {
		return Text{plain: t.plain}, nil
	}
	plain, err := open(t.sealed)
	if err != nil {
		return Text{}, err
	}
	return Text{plain: string(plain), sealed: t.sealed}, nil
}
