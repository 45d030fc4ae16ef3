package identityapi

import (
	"regexp"
	"strings"
)

// maxBrowser bounds what is kept of a program that is no known browser, in bytes.
const maxBrowser = 40

// named is a mark in the header User-Agent and what people call the thing.
type named struct{ mark, name string }

// browsers and systems are looked for in this order: most browsers also name those that they want to be taken for.
var (
	browsers = []named{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = []named{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"},
		{"Mac OS X", "macOS"}, {"Linux", "Linux"},
	}
	// program begins the header of what is no browser: "curl/8.5".
	program = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ._-]*`)
)

// browserOf says in words with what somebody signs in, from the header User-Agent: "Firefox, Windows". It is "" when
// that says nothing. Versions are left out: nobody knows the own one.
func browserOf(agent string) string {
	words := first(browsers, agent)
	if words == "" {
		words = strings.TrimSpace(program.FindString(agent))
		words = words[:min(len(words), maxBrowser)]
	}
	if system := first(systems, agent); words != "" && system != "" {
		words += ", " + system
	}
	return words
}

// first is the name of the first mark that a text has, "" for none.
func first(list []named, text string) string {
	for _, n := range list {
		if strings.Contains(text, n.mark) {
			return n.name
		}
	}
	return ""
}
