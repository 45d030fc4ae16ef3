package identityapi

import (
	"strings"
	"testing"
)

// TestBrowser_IsCalledAsPeopleCallIt: also where a browser names others, and where a program is none.
func TestBrowser_IsCalledAsPeopleCallIt(t *testing.T) {
	t.Parallel()
	const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36"
	for agent, want := range map[string]string{
		chrome:                "Chrome, Windows",
		chrome + " Edg/131.0": "Edge, Windows",
		chrome + " OPR/115.0": "Opera, Windows",
		"Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Firefox/133.0":                      "Firefox, Linux",
		"Mozilla/5.0 (Linux; Android 14; K) Chrome/131.0 Mobile Safari/537.36":         "Chrome, Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18 Safari/604": "Safari, iPhone",
		"curl/8.5.0": "curl", "Go-http-client/1.1": "Go-http-client", "": "", "<script>": "", "\x00\xff": "",
		strings.Repeat("a", 300): strings.Repeat("a", 40),
	} {
		if got := browserOf(agent); got != want {
			t.Errorf("%q is called %q, want %q", agent, got, want)
		}
	}
}
