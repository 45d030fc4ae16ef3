package paymentsapi

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// eightKB is about what a browser may send at most before servers refuse it.
const eightKB = 8 << 10

// What a browser prefers is read as the standard says; what cannot be read is English. Source: RFC 9110 12.5.4.
func TestPreferred_TheLanguageOfTheBrowser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ header, want string }{
		{"", "en"}, {"en", "en"}, {"sw", "sw"}, {"sw-KE", "sw"}, {"SW-tz", "sw"}, {"sw-Latn-TZ", "sw"},
		{"sw-KE,sw;q=0.9,en-US;q=0.8,en;q=0.7", "sw"}, {"en;q=0.5,sw", "sw"}, {"sw;q=0.5,en", "en"},
		{"en-GB,sw", "en"}, {"sw;q=0", "en"}, {"sw;q=0,en;q=0.1", "en"},
		{"fr", "en"}, {"fr,sw;q=0.2", "sw"}, {"de-DE,de,en;q=.1,sw;q=.2", "sw"}, {"*", "en"},
		{"\x00;;q=", "en"}, {"sw;;;", "en"}, {"<script>alert(1)</script>", "en"}, {"sw;q=many", "en"},
		{strings.Repeat("-", eightKB), "en"}, {strings.Repeat(";q=", eightKB/3), "en"},
		{strings.Repeat("xx,", eightKB/3), "en"}, {"sw," + strings.Repeat("en-US;q=0.1,", eightKB/12), "sw"},
	} {
		if got := preferred(http.Header{"Accept-Language": {c.header}}); got.Lang != c.want {
			t.Errorf("%.40q: %s, not %s", c.header, got.Lang, c.want)
		}
	}
	if got := preferred(http.Header{"Accept-Language": {"fr", "sw"}}); got != paySwahili {
		t.Errorf("two headers: %s", got.Lang)
	}
	if got := preferred(http.Header{}); got != payEnglish {
		t.Errorf("no header: %s", got.Lang)
	}
}

func TestPayWords_AreAllThereAndDifferent(t *testing.T) {
	t.Parallel()
	english, swahili := reflect.ValueOf(*payEnglish), reflect.ValueOf(*paySwahili)
	for i := range english.NumField() {
		one, other := english.Field(i).String(), swahili.Field(i).String()
		if one == "" || other == "" || one == other {
			t.Errorf("%s: %q and %q", english.Type().Field(i).Name, one, other)
		}
	}
	for _, w := range payLanguages {
		if others := w.others(); len(others) != len(payLanguages)-1 || others[0] == w {
			t.Errorf("%s links to %v", w.Lang, others)
		}
	}
}
