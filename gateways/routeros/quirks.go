package routeros

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"
)

// refusesIDs reports whether PATCH and DELETE by id are refused altogether, as two projects report of 7.21.3 while
// 7.23.7 accepts them, or the method is unknown, as on older 7.x. The request was not executed then. Source:
// docs/facts/routeros.md#ids.
func refusesIDs(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && (r.Status == http.StatusNotAcceptable ||
		r.Status == http.StatusBadRequest && strings.Contains(r.Message, "missing or invalid resource identifier"))
}

// postsIDs reports whether the device refused ids in paths before.
func (l *link) postsIDs() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byPost
}

// postIDs remembers that the device refuses ids in paths.
func (l *link) postIDs() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byPost = true
}

// cp1252 maps bytes 0x80 to 0x9F of old comments; the rest of that set equals Latin-1. Seen on all releases whose
// comments were written with old versions of Winbox.
var cp1252 = [32]rune{
	'€', '\uFFFD', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\uFFFD', 'Ž', '\uFFFD',
	'\uFFFD', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\uFFFD', 'ž', 'Ÿ',
}

// utf8Of gives valid UTF-8: bytes that are not UTF-8 are read as CP1252.
func utf8Of(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r != utf8.RuneError || n > 1:
			out = append(out, text[:n]...)
		case text[0] >= 0x80 && text[0] < 0xA0:
			out = utf8.AppendRune(out, cp1252[text[0]-0x80])
		default:
			out = utf8.AppendRune(out, rune(text[0]))
		}
		text = text[n:]
	}
	return out
}

// sanitise repairs the JSON of routers: raw control bytes within strings are escaped, and bytes that are not UTF-8 are
// read as CP1252.
func sanitise(text []byte) []byte {
	text = utf8Of(text)
	if !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return text
	}
	const hex = "0123456789abcdef"
	out := make([]byte, 0, len(text)+16)
	inside, escaped := false, false
	for _, c := range text {
		switch {
		case inside && c < ' ':
			if escaped { // a backslash before a raw control byte: keep both
				out = append(out, '\\')
			}
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			escaped = false
			continue
		case c < ' ' && c != '\n' && c != '\r' && c != '\t':
			c = ' '
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		}
		out = append(out, c)
	}
	return out
}

// printable replaces control characters by U+FFFD, because databases and pages refuse them; tabs and line ends stay.
func printable(value string) string {
	if !utf8.ValidString(value) {
		value = string(utf8Of([]byte(value)))
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7F {
			return '\uFFFD'
		}
		return r
	}, value)
}
