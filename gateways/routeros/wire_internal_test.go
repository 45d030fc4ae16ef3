package routeros

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSanitise_RawBytesBecomeJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\"comment\":\"a\x01b\x07\"}":           "a\uFFFDb\uFFFD",
		"{\"comment\":\"caf\xe9 \x80\"}":         "café €",
		"\r\n{ \"comment\" :\t\"l1\\nl2\x00\" }": "l1\nl2\uFFFD",
		"{\"comment\":\"q\\\"\x02\\\\\"}":        "q\"\uFFFD\\",
		"{\"comment\":\"äöü\xff\"}":              "äöüÿ",
		"{\"comment\":\"tab\there\nand there\"}": "tab\there\nand there",
	} {
		items, err := decode(sanitise([]byte(text)))
		if err != nil || items[0]["comment"] != want {
			t.Errorf("%q: %q, %v", text, items, err)
		}
	}
}

func FuzzSanitise(f *testing.F) {
	for _, text := range []string{"{\"comment\":\"a\x01\"}", "[]", "{\"a\":\"\xe9\\\x01\"}", "[{\".id\":\"*1\"},{}]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		clean := sanitise(text)
		if json.Valid(text) && !json.Valid(clean) {
			t.Fatalf("%q became invalid: %q", text, clean)
		}
		items, err := decode(clean)
		if err != nil {
			return
		}
		for _, item := range items {
			for name, value := range item {
				if !utf8.ValidString(value) || strings.ContainsAny(value, "\x00\x01\x1f\x7f") {
					t.Fatalf("%q gives %q = %q", text, name, value)
				}
			}
		}
	})
}

// stream is a connection whose other side has sent some bytes.
type stream struct {
	net.Conn
	io.Reader
}

// Read reads those bytes, then io.EOF.
func (s stream) Read(p []byte) (int, error) { return s.Reader.Read(p) }

func TestLimited_NoWordIsTooLong(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"\x03!re\x05=a=bc\x00\x05!done\x00": true, "\x80\x80" + strings.Repeat("x", 128) + "\x00": true,
		"\xf0\x7f\xff\xff\xff": false, "\xe1\x00\x00\x00": false, "\xff": false, "HTTP/1.1 400 Bad": true,
	} {
		_, err := io.ReadAll(&limited{Conn: stream{Reader: strings.NewReader(text)}})
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzLimited(f *testing.F) {
	f.Add([]byte("\x03!re\x05=a=bc\x00\x05!done\x00"), 3)
	f.Add([]byte("\xf0\x00\x00\x00\x01x\x00"), 1)
	f.Fuzz(func(t *testing.T, text []byte, step int) {
		whole := (&limited{}).follow(text)
		pieces, c := true, &limited{}
		for rest := text; len(rest) > 0 && pieces; {
			n := min(max(step%7, 1), len(rest))
			pieces = c.follow(rest[:n])
			rest = rest[n:]
		}
		if whole != pieces {
			t.Fatalf("whole %v, in pieces %v", whole, pieces)
		}
	})
}

func TestCredentials_NeverShowThePassword(t *testing.T) {
	t.Parallel()
	target := Target{
		ID: "d", Address: netip.MustParseAddr("10.99.0.2"), Credentials: Credentials{
			User: "platform", Password: "topsecret",
		},
	}
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("x", "credentials", target.Credentials, "target", target)
	log = slog.New(slog.NewTextHandler(&out, nil))
	log.Info("x", "credentials", target.Credentials, "target", target)
	fmt.Fprintf(&out, "%v %+v %#v %s", target, target, target, target.Credentials)
	if strings.Contains(out.String(), "topsecret") {
		t.Error(out.String())
	}
}

func TestWithin_AllowsItsRangesAlone(t *testing.T) {
	t.Parallel()
	policy := Within(netip.MustParsePrefix("10.99.0.0/16"), netip.MustParsePrefix("fd00:99::/64"))
	for ip, ok := range map[string]bool{
		"10.99.0.0": true, "10.99.255.255": true, "::ffff:10.99.0.2": true, "fd00:99::2": true,
		"10.98.255.255": false, "10.100.0.0": false, "203.0.113.9": false, "10.1.2.3": false, "fd00:98::2": false,
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false, "169.254.1.1": false, "fe80::1": false,
		"fd00:99::2%eth0": false, "0.0.0.0": false, "::": false, "224.0.0.1": false, "255.255.255.255": false,
	} {
		if err := policy(netip.MustParseAddr(ip)); (err == nil) != ok || err != nil && !errors.Is(err, errForbidden) {
			t.Errorf("%s: %v", ip, err)
		}
	}
	if err := policy(netip.Addr{}); !errors.Is(err, errForbidden) {
		t.Errorf("no address: %v", err)
	}
	if err := Within()(netip.MustParseAddr("10.99.0.2")); !errors.Is(err, errForbidden) {
		t.Errorf("no range: %v", err)
	}
}

func TestPlaces_HTTPIsNeverSentToTheAPIPorts(t *testing.T) {
	t.Parallel()
	for _, port := range []uint16{80, 8080, 443, 8728, 8729} {
		for _, p := range places(port) {
			if p.speech == REST && (p.port == PortAPI || p.port == PortAPITLS) ||
				(port == PortHTTPS || port == PortAPITLS) && !p.secure {
				t.Errorf("port %d may be tried as %+v", port, p)
			}
		}
	}
}

func TestDecode_RefusesMoreItemsThanARouterHas(t *testing.T) {
	t.Parallel()
	many := "[" + strings.Repeat("{},", maxItems) + "{}]"
	if _, err := decode([]byte(many)); !errors.Is(err, errTooMany) {
		t.Errorf("a list without end: %v", err)
	}
	for _, text := range []string{`7`, `"x"`, `[{"a":`, `[1]`, `{"a":[}`} {
		if items, err := decode([]byte(text)); err == nil {
			t.Errorf("%s gives %v", text, items)
		}
	}
}

func TestRefused_BoundsTheWordsOfARouter(t *testing.T) {
	t.Parallel()
	if got := refused(&Refusal{Status: 400, Message: strings.Repeat("é\x00", 1<<20)}).Error(); len(got) > 4*maxWords ||
		strings.Contains(got, "\x00") {
		t.Errorf("%d bytes", len(got))
	}
}
