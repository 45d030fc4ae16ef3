package httpapi

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// fuzzCall is a call of a route with a query string, as the server makes it.
func fuzzCall(f testing.TB, method, path, query string) *Call {
	f.Helper()
	cursors, err := newCursors(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		f.Fatal(err)
	}
	r := httptest.NewRequestWithContext(f.Context(), method, "/", nil)
	r.URL = &url.URL{Path: path, RawQuery: query}
	return &Call{Request: r, server: &Server{cursors: cursors}, route: &Route{Method: method, Path: "/things/:id"}}
}

// asked wants a failure to be the client's fault.
func asked(t *testing.T, what string, err error) {
	t.Helper()
	var fail *failure.Error
	if !errors.As(err, &fail) || fail.Kind != failure.Malformed && fail.Kind != failure.Invalid || fail.Code == "" {
		t.Fatalf("%q: %v", what, err)
	}
}

func TestFilters_ADateAsTheEndMeansItsWholeDay(t *testing.T) {
	t.Parallel()
	f := fuzzCall(t, "GET", "/things", "from=2026-03-02&to=2026-03-02&at=2026-03-02T09:00:00Z").Filters()
	nairobi := time.FixedZone("EAT", 3*60*60)
	from, to, at := f.Instant("from", nairobi), f.End("to", nairobi), f.End("at", nairobi)
	if from != time.Date(2026, 3, 1, 21, 0, 0, 0, time.UTC) || to.Sub(from) != 24*time.Hour ||
		at != time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) || !f.End("none", nairobi).IsZero() || f.Err() != nil {
		t.Errorf("from %s to %s, at %s, %v", from, to, at, f.Err())
	}
}

func TestFilters_AnInstantMayHaveAnOffsetAsItIsTyped(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)
	for query, right := range map[string]bool{
		"at=2026-03-02T21:00:00+03:00": true, "at=2026-03-02T21:00:00%2B03:00": true, "at=2026-03-02T18:00:00Z": true,
		"at=2026-03-02+18:00:00Z": false, "at=2026-03-02T18:00:00": false,
	} {
		f := fuzzCall(t, "GET", "/things", query).Filters()
		if at := f.Instant("at", time.UTC); (f.Err() == nil) != right || right && !at.Equal(want) {
			t.Errorf("%s: %s, %v", query, at, f.Err())
		}
	}
}

// TestFilters_AnInstantCanBeWrittenAgain: events and answers have the years 0 to 9999, and the zero time means that
// none was asked for.
func TestFilters_AnInstantCanBeWrittenAgain(t *testing.T) {
	t.Parallel()
	nairobi := time.FixedZone("EAT", 3*60*60)
	for query, right := range map[string]bool{
		"at=0000-01-01": false, "at=0001-01-01T00:00:00Z": false, "at=0001-01-01T02:00:00%2B03:00": false,
		"at=0001-01-01": false, "at=0001-01-02": true, "at=9999-12-31": true,
		"at=9999-12-31T23:59:59Z": true, "at=9999-12-31T23:59:59-14:00": false,
	} {
		f := fuzzCall(t, "GET", "/things", query).Filters()
		at := f.Instant("at", nairobi)
		if err := f.Err(); (err == nil) != right || at.IsZero() == right {
			t.Errorf("%s: %s, %v", query, at, err)
		} else if err != nil {
			asked(t, query, err)
		}
	}
	f := fuzzCall(t, "GET", "/things", "to=9999-12-31").Filters()
	if to := f.End("to", time.UTC); !to.IsZero() || f.Err() == nil {
		t.Errorf("the end of the last day is %s", to)
	}
}

// FuzzQuery checks that every query string gives values in their range, or a failure of the client's.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "q=a&from=2026-03-02&at=2026-03-02T09:00:00Z&open=true&id=0195a000-0000-7000-8000-000000000001&limit=5",
		"q=%zz", "q=a;b", "q=%00", "q=%ff", "q=a&q=b", "at=0000-01-01T00:00:00%2B14:00", "limit=101", "limit=",
		"limit=+5", "open=yes", "id=00000000-0000-0000-0000-000000000000", "from=2026-02-30", "limit=0x5", "limit=1_0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		c := fuzzCall(t, "GET", "/things", query)
		values := c.Filters()
		text, word := values.Text("q"), values.OneOf("kind", "a", "b")
		day, at, open, one := values.Date("from"), values.Instant("at", time.UTC), values.Bool("open"),
			FilterID[id.Any](values, "id")
		if len(text) > maxFilter || !utf8.ValidString(text) || strings.TrimSpace(text) != text ||
			strings.ContainsRune(text, 0) || word != "" && word != "a" && word != "b" || at.Location() != time.UTC {
			t.Fatalf("%q gives %q, %q, %s", query, text, word, at)
		}
		if err := values.Err(); err != nil {
			asked(t, query, err)
		} else if given := values.values; given.Has("from") && strings.TrimSpace(given.Get("from")) != day.String() ||
			strings.TrimSpace(given.Get("open")) != "" && open == nil ||
			given.Has("id") && !strings.EqualFold(strings.TrimSpace(given.Get("id")), one.UUID().String()) &&
				strings.TrimSpace(given.Get("id")) != "" {
			t.Fatalf("%q gives %s, %v, %s without a fault", query, day, open, one)
		}
		page, err := PageOf[string](c)
		if err != nil {
			asked(t, query, err)
		} else if page.Limit < 1 || page.Limit > maxPage {
			t.Fatalf("%q gives a page of %d", query, page.Limit)
		}
	})
}

// FuzzCursor checks that a cursor opens for its own list only, unchanged, and gives its key.
func FuzzCursor(f *testing.F) {
	f.Add("Jane", "status=open", "status=paid", uint16(3), "x")
	f.Add("", "", "limit=5", uint16(0), "AAAA")
	f.Add("\x00\ufffd", "q=%zz", "q=%zz&a=b", uint16(60), strings.Repeat("A", 3000))
	f.Fuzz(func(t *testing.T, key, query, other string, at uint16, forged string) {
		key = strings.ToValidUTF8(key, "\ufffd")
		if len(key) > 1000 { // the longest sort keys are shorter
			return
		}
		c := fuzzCall(t, "GET", "/things", query)
		cursor, err := c.sealCursor(key)
		if err != nil {
			t.Fatal(err)
		}
		var read string
		if err := c.openCursor(cursor, &read); err != nil || read != key {
			t.Fatalf("%q comes back as %q, %v", key, read, err)
		}
		place := int(at) % len(cursor)
		changed := cursor[:place] + string('A'+(cursor[place]-'A'+1)%26) + cursor[place+1:]
		for _, bad := range []string{changed, cursor[:place], cursor + "A", forged} {
			if err := c.openCursor(bad, &read); err == nil && bad != cursor {
				t.Fatalf("%q opens as %q", bad, read)
			}
		}
		elsewhere := fuzzCall(t, "GET", "/things", other)
		if same := bytes.Equal(c.cursorScope(),
			elsewhere.cursorScope()); (elsewhere.openCursor(cursor, &read) == nil) != same {
			t.Fatalf("the cursor of %q opens at %q", query, other)
		}
		wrong := fuzzCall(t, "GET", "/things", "cursor="+url.QueryEscape(forged))
		if page, err := PageOf[string](wrong); err != nil {
			asked(t, forged, err)
		} else if page.After != nil {
			t.Fatalf("%q is the cursor %q", forged, *page.After)
		}
	})
}

// FuzzIfMatch checks that an accepted condition is the revision that was written, and that any other is refused.
func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{
		"", "*", `"3"`, ` "3" `, `3`, `W/"3"`, `"18446744073709551615"`, `"18446744073709551616"`, `"-1"`, `"`, `""`,
		`"1", "2"`, `"none"`, `"1_0"`, `"+1"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c := fuzzCall(t, "PUT", "/things/1", "")
		c.Request.Header["If-Match"] = []string{header}
		err := c.readConditions()
		trimmed := strings.TrimSpace(header)
		switch {
		case err != nil:
			asked(t, header, err)
		case c.expected == nil:
			if trimmed != "" && trimmed != "*" {
				t.Fatalf("%q is no condition", header)
			}
		case *c.expected == commands.NoRevision:
			if trimmed != `"none"` {
				t.Fatalf("%q is the revision of nothing", header)
			}
		default:
			digits := strings.TrimLeft(strings.Trim(trimmed, `"`), "0")
			if digits == strconv.FormatUint(commands.NoRevision, 10) { // a number too large for any stream, not "none"
				digits = strconv.FormatUint(commands.NoRevision-1, 10)
			}
			if written := strconv.FormatUint(*c.expected, 10); written != digits && (written != "0" || digits != "") {
				t.Fatalf("%q is the revision %s", header, written)
			}
		}
	})
}

// FuzzPathID checks that only the form of 36 characters is an id, and that anything else is told as missing.
func FuzzPathID(f *testing.F) {
	for _, seed := range []string{
		"", "0195a000-0000-7000-8000-000000000001", "0195A000-0000-7000-8000-00000000000F",
		"00000000-0000-0000-0000-000000000000", "{0195a000-0000-7000-8000-000000000001}",
		"urn:uuid:0195a000-0000-7000-8000-000000000001", "0195a0000000700080000000000000010000",
	} {
		f.Add(seed)
	}
	missing := errors.New("missing")
	f.Fuzz(func(t *testing.T, text string) {
		c := &Call{params: httprouter.Params{{Key: "id", Value: text}}}
		got, err := PathID[id.Any](c, "id", func() error { return missing })
		switch {
		case err != nil && (!errors.Is(err, missing) || !got.IsZero()):
			t.Fatalf("%q: %s, %v", text, got, err)
		case err == nil && (got.IsZero() || !strings.EqualFold(got.String(), text)):
			t.Fatalf("%q is %s", text, got)
		}
		var read id.Any
		if err := read.UnmarshalText([]byte(text)); err == nil && !strings.EqualFold(read.UUID().String(), text) &&
			text != "" {
			t.Fatalf("%q of a body is %s", text, read)
		}
	})
}
