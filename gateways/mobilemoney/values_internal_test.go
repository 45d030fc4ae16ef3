package mobilemoney

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
)

func TestNumber_IsWrittenInPlainDigitsWithTheSameValue(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"0": "0", "-0.0": "0", "1.00": "1", "-1.50": "-1.5", "00.5": "0.5", "1.50E2": "150", "15e-1": "1.5",
		"1e-3": "0.001", "0.001e3": "1", "2.0260302120000E13": "20260302120000", "1e0": "1", "12e-2": "0.12",
		"1e40": "1" + strings.Repeat("0", 40), "1e-40": "0." + strings.Repeat("0", 39) + "1",
		strings.Repeat("9", maxNumber): strings.Repeat("9", maxNumber),
	} {
		if got, err := plainNumber(given); got != want || err != nil {
			t.Errorf("%s became %q, %v; want %s", given, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "-", ".", "e5", "1e", "1x", "1,5", "1e41", "1e-41", "1e1e1", strings.Repeat("9", maxNumber+1),
	} {
		if got, err := plainNumber(bad); got != "" || err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

func TestText_IsATextANumberOrNothing(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]text{
		`null`: "", `" a b "`: "a b", `0`: "0", `9`: "9", `-5.0`: "-5", `"-"`: "-", `"a\u0000b"`: "a\ufffdb",
		`"` + strings.Repeat("é", maxText) + `"`:   text(strings.Repeat("é", maxText)),
		`"` + strings.Repeat("é", maxText+1) + `"`: text(strings.Repeat("é", maxText)),
	} {
		read := text("of before")
		if err := json.Unmarshal([]byte(given), &read); err != nil || read != want {
			t.Errorf("%.20s was read as %q, %v", given, read, err)
		}
	}
	for _, bad := range []string{``, `{}`, `[1]`, `true`, `"open`, `1e99`, `+1`, `:`, `/`} {
		read := text("of before")
		if err := read.UnmarshalJSON([]byte(bad)); err == nil || read != "of before" {
			t.Errorf("%s was read as %q", bad, read)
		}
	}
}

func TestInstant_IsCredibleFrom2000To2999(t *testing.T) {
	t.Parallel()
	for given, want := range map[text]time.Time{
		"20260302120000": time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
		"20000101000000": time.Date(1999, 12, 31, 21, 0, 0, 0, time.UTC),
		"29991231235959": time.Date(2999, 12, 31, 20, 59, 59, 0, time.UTC),
		"19991231235959": {}, "30000101000000": {}, "": {}, "20260230120000": {}, "2026030212": {},
		"20260302120000.5": {}, "20260302120000,25": {},
	} {
		if got := instant(given); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is %s, want %s", given, got, want)
		}
	}
}

func TestShillings_ArePositiveAndExact(t *testing.T) {
	t.Parallel()
	for given, want := range map[text]int64{"1": 100, "1.5": 150, "1.50": 150, "1e2": 10_000, "0.01": 1} {
		if got, err := shillings(given); err != nil || got != money.Of(want, money.KES) {
			t.Errorf("%s is %v, %v", given, got, err)
		}
	}
	for _, bad := range []text{"", "0", "-1", "0.001", "one", "1e30", "KES 1"} {
		if got, err := shillings(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestFailed_SaysWhatIsKnownOfTheProvider(t *testing.T) {
	t.Parallel()
	unreadable := result{status: 502, body: []byte(`<html>`)}.failed("query prompt")
	if got := unreadable.Error(); !strings.Contains(got, "query prompt") || !strings.Contains(got, "502") {
		t.Errorf("told as %q", got)
	}
	refused := &Refusal{Status: 400, RequestID: "r", Code: "400.002.02", Message: "Bad Request"}
	if got := refused.Error(); got != "provider refused with 400.002.02: Bad Request" {
		t.Errorf("told as %q", got)
	}
}

// endless cannot be written as JSON.
type endless struct{ Of func() }

func TestPost_OfWhatCannotBeWrittenIsNotSent(t *testing.T) {
	t.Parallel()
	e := &Endpoint{base: "http://127.0.0.1"}
	if res := e.post(t.Context(), "t", call{operation: "x", path: "/x", body: endless{}}); res.err == nil || res.sent {
		t.Errorf("a body that is no JSON: %+v", res)
	}
	if res := e.post(t.Context(), "t", call{operation: "x", path: "\x7f"}); res.err == nil || res.sent {
		t.Errorf("an address that is none: %+v", res)
	}
}
