package acs

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// byNumber matches what the server takes in a path for a sign that is written by its number, with the two characters
// that have to be behind it.
var byNumber = regexp.MustCompile(`0x([0-9A-Z][0-9A-Z])`)

// marked puts a text in the place of each 0x that the server would read so. The two characters behind it may begin the
// next one.
func marked(text, in string) string {
	for from := 0; ; {
		at := byNumber.FindStringIndex(text[from:])
		if at == nil {
			return text
		}
		begin := from + at[0]
		text = text[:begin] + in + text[begin+2:]
		from = begin + len(in)
	}
}

// scriptTag is the form of a tag in scripts. Source: docs/facts/genieacs.md#tags-in-scripts.
func scriptTag(tag string) string {
	var out strings.Builder
	for i := range len(tag) {
		b := tag[i]
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return strings.ReplaceAll(marked(out.String(), "0%78"), "%", "0x")
}

// scriptTags are the forms of some tags.
func scriptTags(tags []string) []string {
	out := make([]string, len(tags))
	for i, tag := range tags {
		out[i] = scriptTag(tag)
	}
	return out
}

// plainTag reads the form of a tag in scripts; false for one at which the server's process ends.
func plainTag(form string) (string, bool) {
	tag, err := url.PathUnescape(marked(form, "%"))
	return tag, err == nil && utf8.ValidString(tag)
}

// stored gives the tags of the device after a session; false when the server ends at one that the session has set or
// taken. Tags are not locked: those that others changed meanwhile stay changed.
func (x *session) stored() ([]string, bool) {
	var tags []string
	if x.d.doc != nil {
		tags = slices.Clone(x.d.doc.tags)
	}
	for _, form := range x.had {
		if slices.Contains(x.doc.tags, form) {
			continue
		}
		tag, ok := plainTag(form)
		if !ok {
			return nil, false
		}
		tags = slices.DeleteFunc(tags, func(t string) bool { return t == tag })
	}
	for _, form := range x.doc.tags {
		if slices.Contains(x.had, form) {
			continue
		}
		tag, ok := plainTag(form)
		if !ok {
			return nil, false
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags, true
}
