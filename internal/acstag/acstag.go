// Package acstag writes tags as expressions and scripts of the CPE server have them, and keeps names out of tags that
// the server cannot read as it writes them: it ends at such a tag. Source:
// docs/facts/genieacs.md#tags-in-scripts.
package acstag

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// plain reports whether a byte stands for itself.
func plain(b byte) bool { return b >= 'a' && b <= 'z' || capital(b) || b == '-' || b == '_' }

// capital reports whether a byte is a digit or a capital: two of them behind 0x are read as one byte.
func capital(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' }

// escaped reports whether a byte would be read from the beginning of a text.
func escaped(text string) bool {
	return len(text) >= 4 && text[:2] == "0x" && capital(text[2]) && capital(text[3])
}

// InScript gives a tag the form that it has behind "Tags.": each byte outside of A-Z a-z 0-9 - _ is 0xHH, and so is the
// x of a 0x that the server would read as the beginning of one.
func InScript(tag string) string {
	var signs strings.Builder // with % in the place of 0x
	for i := range len(tag) {
		if plain(tag[i]) {
			signs.WriteByte(tag[i])
			continue
		}
		fmt.Fprintf(&signs, "%%%02X", tag[i])
	}
	var out strings.Builder
	for text := signs.String(); text != ""; text = text[1:] {
		switch {
		case text[0] == '%':
			out.WriteString("0x")
		case escaped(text):
			out.WriteString("00x78")
			text = text[1:]
		default:
			out.WriteByte(text[0])
		}
	}
	return out.String()
}

// Read gives the tag that the server stores for a form in scripts; false when it ends there.
func Read(form string) (tag string, ok bool) {
	var signs strings.Builder
	for ; form != ""; form = form[1:] {
		if escaped(form) {
			signs.WriteByte('%')
			form = form[1:]
			continue
		}
		signs.WriteByte(form[0])
	}
	tag, err := url.PathUnescape(signs.String())
	return tag, err == nil && utf8.ValidString(tag)
}

// Kept reports whether the server reads a tag in a script as it has written it there.
func Kept(tag string) bool {
	read, ok := Read(InScript(tag))
	return ok && read == tag
}

// Name gives the form in which a name is part of a tag: of one that the server does not keep each x is :x.
func Name(name string) string {
	if Kept(name) {
		return name
	}
	return strings.ReplaceAll(name, "x", ":x")
}

// Username is Name for a username, which may have every sign: no two of them are one tag. In those that have what
// Username and Name put in, or a *, which cannot be named to the server, each : is two, and each * is :s.
func Username(username string) string {
	if strings.Contains(username, ":x") || strings.Contains(username, ":s") || strings.Contains(username, "*") {
		username = strings.NewReplacer(":", "::", "*", ":s").Replace(username)
	}
	return Name(username)
}
