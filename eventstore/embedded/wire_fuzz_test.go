package embedded

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
)

// FuzzUUID checks that both forms of an id mean the same, and that no other text is one.
func FuzzUUID(f *testing.F) {
	f.Add("0195a000-0000-7000-8000-000000000001", int64(1), int64(-1))
	f.Add("00000000-0000-0000-0000-000000000000", int64(0), int64(0))
	f.Add("{0195a000-0000-7000-8000-000000000001}", int64(0), int64(1))
	f.Add("", int64(-1<<63), int64(0))
	f.Fuzz(func(t *testing.T, text string, most, least int64) {
		halved := &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
			MostSignificantBits: most, LeastSignificantBits: least,
		}}}
		written := &shared.UUID{Value: &shared.UUID_String_{String_: text}}
		for _, given := range []*shared.UUID{halved, written, nil, {}} {
			got, err := parseUUID(given)
			var r *refusal
			if err != nil {
				if !errors.As(err, &r) {
					t.Fatalf("%v: %v", given, err)
				}
				continue
			}
			if again, err := parseUUID(structured(got)); err != nil || again != got || got == uuid.Nil {
				t.Fatalf("%v is %s and then %s, %v", given, got, again, err)
			}
			if s, is := given.GetValue().(*shared.UUID_Structured_); is &&
				(s.Structured.GetMostSignificantBits() != most || structured(got).String() != given.String()) {
				t.Fatalf("%v is %s", given, got)
			}
		}
	})
}

// FuzzFilter checks that an accepted filter admits what its prefixes or its expression say, and no internal stream.
func FuzzFilter(f *testing.F) {
	f.Add("^account-", "", uint32(32), uint32(1), "account-1")
	f.Add("", "account-", uint32(0), uint32(0), "gateway-1")
	f.Add("(", "", uint32(1), uint32(1), "")
	f.Add("", "", uint32(1<<32-1), uint32(1<<32-1), "$epoch-information")
	f.Fuzz(func(t *testing.T, pattern, prefix string, window, multiplier uint32, subject string) {
		e := &streams.ReadReq_Options_FilterOptions_Expression{Regex: pattern, Prefix: []string{"other-", prefix}}
		o := &streams.ReadReq_Options_FilterOptions{
			Window:                       &streams.ReadReq_Options_FilterOptions_Max{Max: window},
			CheckpointIntervalMultiplier: multiplier,
			Filter:                       &streams.ReadReq_Options_FilterOptions_StreamIdentifier{StreamIdentifier: e},
		}
		got, err := parseFilter(o, true)
		if err != nil {
			var refused *refusal
			if !errors.As(err, &refused) {
				t.Fatal(err)
			}
			return
		}
		if got.interval != uint64(window)*uint64(multiplier) || got.interval == 0 {
			t.Fatalf("an interval of %d events for %d × %d", got.interval, window, multiplier)
		}
		want := strings.HasPrefix(subject, "other-") || strings.HasPrefix(subject, prefix)
		if pattern != "" {
			want = regexp.MustCompile(pattern).MatchString(subject)
		}
		if want = want && !hiddenFromFilters(subject); got.admits(&record{stream: subject, kind: "t"}) != want {
			t.Fatalf("%v admits %q: %t", o, subject, !want)
		}
	})
}

// FuzzTrailers checks that every refusal about a stream has trailers that gRPC sends unchanged.
func FuzzTrailers(f *testing.F) {
	f.Add("account-1", int64(3), int64(-1))
	f.Add("caf\u00e9\n\x7f%41", int64(-4), int64(1<<62))
	f.Add("\xff", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, stream string, expected, actual int64) {
		for _, err := range []error{
			streamDeleted(stream), wrongExpectedVersion(stream, expected, actual), missingMetadata(stream),
		} {
			var r *refusal
			if !errors.As(err, &r) {
				t.Fatal(err)
			}
			md := r.metadata()
			if len(md.Get("exception")) != 1 {
				t.Fatalf("%q: trailers %v", stream, md)
			}
			for name, values := range md {
				for _, value := range values {
					if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) {
						t.Fatalf("%q: trailer %s is %q", stream, name, value)
					}
				}
			}
		}
	})
}
