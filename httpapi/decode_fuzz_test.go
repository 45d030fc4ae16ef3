package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// fuzzed has a field of each kind, nested and embedded ones included.
type fuzzed struct {
	fuzzedPart
	Name    string            `json:"name"`
	Amount  Amount            `json:"amount"`
	Plan    id.Plan           `json:"plan,omitzero"`
	Due     calendar.Date     `json:"due,omitzero"`
	At      time.Time         `json:"at,omitzero"`
	Notes   *string           `json:"notes,omitempty"`
	Lines   []fuzzedPart      `json:"lines,omitempty"`
	Tags    []string          `json:"tags,omitempty"`
	Words   map[string]string `json:"words,omitempty"`
	Holder  *fuzzedPart       `json:"holder,omitempty"`
	Enabled bool              `json:"enabled,omitempty"`
}

// fuzzedPart is used embedded, in a list and behind a pointer.
type fuzzedPart struct {
	Count int64 `json:"count"`
}

// FuzzDecode checks three things: no body breaks the decoder, encoding/json reads an accepted body as the same value,
// and a refused body is the client's fault.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","amount":1.5,"count":2}`, `{}`, `[]`, ``,
		`{"name":"a","amount":1,"count":2,"lines":[{"count":1}],"tags":["x"]}`, `{"name":null}`,
		`{"a":{"b":[1,{"c":null}]}}`, `{"name":"\ud800","amount":-0,"count":1}`,
		`{"name":"\u0000","amount":1,"count":1}`, `{"name":"a","name":"b","amount":1,"count":1}`,
		`{"words":{"a":"b"},"holder":{"count":3},"name":"","amount":0,"count":0,"enabled":true}`,
		`{"plan":"","due":"","name":"a","amount":1e400,"count":1}`,
		" {\n\"na\\u006de\" :\t\"a\\\"}\\\\\" , \"amount\":1 ,\"count\": 2 , \"tags\" : [ \"]\" , \"\\\\\" ] } ",
		`{"at":"2026-01-01T00:00:00Z","name":"a","amount":1,"count":99999999999999999999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var mine, plain fuzzed
		err := decode(body, &mine)
		if err == nil {
			dec := json.NewDecoder(bytes.NewReader(body))
			dec.DisallowUnknownFields()
			if plainErr := dec.Decode(&plain); plainErr != nil || !reflect.DeepEqual(mine, plain) {
				t.Fatalf("took %q as %+v, encoding/json as %+v (%v)", body, mine, plain, plainErr)
			}
			return
		}
		var fail *failure.Error
		if !errors.As(err, &fail) || fail.Kind != failure.Malformed && fail.Kind != failure.Invalid {
			t.Fatalf("%q: %v", body, err)
		}
	})
}

// TestUploadTime_GrowsWithLargeBodiesAlone, and not without end.
func TestUploadTime_GrowsWithLargeBodiesAlone(t *testing.T) {
	t.Parallel()
	for length, want := range map[int64]time.Duration{
		-1: 0, 0: 0, 1 << 20: 0, 64 << 20: 128 * time.Second, 1 << 40: 384 * time.Second,
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.ContentLength = length
		if got := uploadTime(r); got != want {
			t.Errorf("%d bytes have %s, want %s", length, got, want)
		}
	}
}

// TestDownloadTime_GrowsWithTheFile, and not without end.
func TestDownloadTime_GrowsWithTheFile(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]time.Duration{
		0: 0, 16 << 10: time.Second, 1 << 20: 64 * time.Second, 1 << 40: 8 * time.Minute, 1 << 62: 8 * time.Minute,
	} {
		if got := downloadTime(size); got != want {
			t.Errorf("%d bytes have %s, want %s", size, got, want)
		}
	}
}

// FuzzAmount checks that an accepted amount is exactly the number that was sent.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{
		"1", "1.50", "-3.5", "0", "1e3", "1.001", "92233720368547758.07", "92233720368547758.08", `"1"`, "null", "-0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var in struct {
			Amount Amount `json:"amount"`
		}
		if decode([]byte(`{"amount":`+text+`}`), &in) != nil {
			return
		}
		var faults failure.Faults
		got := in.Amount.In(money.KES, "amount", &faults)
		if len(faults) > 0 {
			return
		}
		again, err := money.Parse(strings.TrimSpace(text), money.KES)
		if err != nil || again != got {
			t.Fatalf("%q became %v, read again %v (%v)", text, got, again, err)
		}
	})
}

// FuzzHostsAndAddresses checks that no header makes its parser panic, and that each result is bounded.
func FuzzHostsAndAddresses(f *testing.F) {
	f.Add("acme.lastmile.test:8080", "http://acme.lastmile.test", "1.2.3.4, 10.0.0.1", "[::1]:5", "id")
	f.Add("[::1", "null", ",,,", "x", strings.Repeat("a", 200))
	f.Fuzz(func(t *testing.T, host, origin, forwarded, remote, given string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.Host, r.RemoteAddr = host, remote
		r.Header["Origin"], r.Header["X-Forwarded-For"], r.Header["X-Request-Id"] = []string{origin},
			[]string{forwarded}, []string{given}
		c := &Call{Request: r}
		s := &Server{cfg: Config{ServiceDomain: "lastmile.test"}}
		s.resolveHost(c)
		if c.hostKind == OnOrganization && (c.Org.Slug == "" || strings.Contains(c.Org.Slug, ".")) {
			t.Fatalf("host %q is organization %q", host, c.Org.Slug)
		}
		if s.originFits(c) && !strings.Contains(strings.ToLower(origin),
			strings.ToLower(strings.Trim(hostPortName(host), "[]"))) {
			t.Fatalf("origin %q fits host %q", origin, host)
		}
		trusted := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
		if ip := ClientIP(r, trusted); ip != "" {
			if _, err := netip.ParseAddr(ip); err != nil {
				t.Fatalf("address %q of %q", ip, forwarded)
			}
		}
		if got := requestID(r); len(got) == 0 || len(got) > maxRequestID {
			t.Fatalf("request id %q", got)
		}
	})
}

// hostPortName is the name in a Host header, "" without a port and for an IPv6 address.
func hostPortName(host string) string {
	name, _, found := strings.Cut(host, ":")
	if !found || strings.HasPrefix(host, "[") {
		return ""
	}
	return name
}

func TestDecode_HugeBodiesOfFaultsAreToldBriefly(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"twice": `"a":1,`, "unknown": `"%06d":1,`, "missing": `{},`, "null": `null,`, "long": `{"count":1},`,
	} {
		var b strings.Builder
		opening, closing := "{", `"z":1}`
		if part[0] != '"' {
			opening, closing = `{"lines":[`, `{}]}`
		}
		b.WriteString(opening)
		for n := 0; b.Len() < defaultBodyLimit-len(closing)-len(part); n++ {
			b.WriteString(strings.ReplaceAll(part, "%06d", fmt.Sprintf("%06d", n)))
		}
		b.WriteString(closing)
		var in fuzzed
		err := decode([]byte(b.String()), &in)
		var fail *failure.Error
		if !errors.As(err, &fail) || len(fail.Faults) == 0 || len(fail.Faults) > maxFaults {
			t.Errorf("%s: %d faults, %.100v", name, len(fail.Faults), err)
		}
	}
}
