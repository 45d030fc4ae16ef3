package genieacs

import (
	"fmt"
	"net/url"
	"strings"
)

// plain reports whether the server's routes take a byte of a path segment as it is. Source:
// docs/facts/genieacs.md#escaping.
func plain(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_'
}

// segment escapes a text for a path: also "." and ":", which Go's own escaping leaves, and which end in a 404.
func segment(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if plain(text[i]) {
			out.WriteByte(text[i])
			continue
		}
		fmt.Fprintf(&out, "%%%02X", text[i])
	}
	return out.String()
}

// DeviceID is the server's name of a device. What is done to a device names the id that came from the server: its parts
// are escaped by the server's own rule. One that is built is good for a look alone.
type DeviceID string

// maxID bounds a device id, in bytes.
const maxID = 512

// Split gives the parts of an id, unescaped. The class is "" for a device without one.
func (d DeviceID) Split() (oui, class, serial string, err error) {
	if err := d.check(); err != nil {
		return "", "", "", err
	}
	text := string(d)
	first, last := strings.IndexByte(text, '-'), strings.LastIndexByte(text, '-')
	parts := []string{text[:first], "", text[last+1:]}
	if first < last {
		parts[1] = text[first+1 : last]
	}
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return "", "", "", unfit("device id has a broken escape")
		}
	}
	return parts[0], parts[1], parts[2], nil
}

// check refuses texts that are no device id: the server breaks off at a wrong escape.
func (d DeviceID) check() error {
	text := string(d)
	dashes := strings.Count(text, "-")
	for i := range len(text) {
		if !plain(text[i]) && text[i] != '%' {
			return unfit("device id has other characters than an id")
		}
	}
	_, err := url.PathUnescape(text)
	switch {
	case err != nil:
		return unfit("device id has a broken escape")
	case dashes != 1 && dashes != 2 || text[0] == '-' || strings.HasSuffix(text, "-") || len(text) > maxID:
		return unfit("device id is not OUI, class and serial")
	}
	return nil
}

// TagFits reports whether a tag can be set and taken by its name. Scripts of the server and other hands make others.
func TagFits(tag string) bool { return checkTag(tag) == nil }

// checkTag refuses what would be another tag in a query, or none.
func checkTag(tag string) error {
	if tag == "" || len(tag) > 200 || strings.ContainsAny(tag, "*") || tag[0] == '/' || tag != clean(tag) {
		return unfit("tag must be 1 to 200 bytes without * and control characters")
	}
	return nil
}

// checkName refuses names of presets and provisions that are not letters, digits, - and _.
func checkName(name string) error {
	for i := range len(name) {
		if !plain(name[i]) {
			return unfit("name %q has other characters than letters, digits, - and _", clean(name))
		}
	}
	if name == "" || len(name) > 200 {
		return unfit("name must be 1 to 200 bytes")
	}
	return nil
}
