package embedded

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// TestFilter_UserEventsAreThoseOfTheClientsPattern: the pattern of the client is known, and means the same without a
// look at each name by an expression.
func TestFilter_UserEventsAreThoseOfTheClientsPattern(t *testing.T) {
	t.Parallel()
	asked := esdb.ExcludeSystemEventsFilter().Regex
	f, err := parseFilter(&streams.ReadReq_Options_FilterOptions{
		Filter: &streams.ReadReq_Options_FilterOptions_EventType{
			EventType: &streams.ReadReq_Options_FilterOptions_Expression{Regex: asked},
		},
		Window: &streams.ReadReq_Options_FilterOptions_Count{Count: &shared.Empty{}},
	}, false)
	if err != nil || !f.user || f.pattern != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	pattern := regexp.MustCompile(asked)
	for _, kind := range []string{"", "$", "$metadata", "a", "a$", "\n", "\n$", "\xff", "\x00", "é", " $"} {
		if got := f.admitsSubject(kind); got != pattern.MatchString(kind) {
			t.Errorf("%q: %t", kind, got)
		}
	}
}

// TestFilter_ALargeExpressionIsRefused: a short text can become one of 128 MB, which takes seconds for a name.
func TestFilter_ALargeExpressionIsRefused(t *testing.T) {
	t.Parallel()
	words := strings.TrimSuffix(strings.Repeat("OrderWasPlaced|", 60), "|")
	for expression, ok := range map[string]bool{
		`^(` + words + `)$`:                        true,
		`^[a-z]{1,50}-[0-9]{3}`:                    true,
		strings.Repeat(`(?:.?){1000}`, 1600) + `x`: false,
		strings.Repeat(`(?:.??){1000}`, 3):         false,
		`((a{20}){10}){1,}`:                        true,
		`(((a{10}){10}){10}b){2}(a{1000}){1,}`:     false,
		strings.Repeat(`\pL`, 20_000):              false, // 27 million ranges
		`(`:                                        false,
	} {
		if _, err := compilePattern(expression); (err == nil) != ok {
			t.Errorf("%.60s: %v", expression, err)
		}
	}
}

// TestFilter_TooManyPrefixesAreRefused: an empty one takes two bytes of the request, and more of the memory.
func TestFilter_TooManyPrefixesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count, length int
		ok            bool
	}{{500, 10, true}, {1, 1024, true}, {1025, 0, false}, {20, 1024, false}} {
		_, err := parseFilter(&streams.ReadReq_Options_FilterOptions{
			Filter: &streams.ReadReq_Options_FilterOptions_EventType{
				EventType: &streams.ReadReq_Options_FilterOptions_Expression{
					Prefix: slices.Repeat([]string{strings.Repeat("x", c.length)}, c.count),
				},
			},
			Window: &streams.ReadReq_Options_FilterOptions_Count{Count: &shared.Empty{}},
		}, false)
		if (err == nil) != c.ok {
			t.Errorf("%d of %d bytes: %v", c.count, c.length, err)
		}
	}
}

// TestFilter_CapturesMeanNothing: an expression matches the same without them.
func TestFilter_CapturesMeanNothing(t *testing.T) {
	t.Parallel()
	names := []string{"", "a", "b", "ab", "AB", "aab", "abab", "order-1", "Order-12", "x\ny", "é", "()", "a.b"}
	for _, expression := range []string{
		`(a|b)`, `^(a|b)+$`, `(?i)^(order)-(\d+)$`, `(?P<name>a+?)b`, `()`, `(a)(b)?`, `((a)|(b(a)?))*$`, `(?s)(x.y)`,
		`\(\)`, `(a\.b)`, `^(?:(a)(?i:b))$`, `(é|[^a-z])`,
	} {
		got, err := compilePattern(expression)
		if err != nil || got.NumSubexp() != 0 {
			t.Fatalf("%s becomes %s: %v", expression, got, err)
		}
		for _, name := range names {
			if want := regexp.MustCompile(expression).MatchString(name); got.MatchString(name) != want {
				t.Errorf("%s becomes %s, and %q is not %t", expression, got, name, want)
			}
		}
	}
}

// TestFilter_OneWhoseCallHasEndedWaitsForNoPlace, nor one whose node stops, and others wait for one.
func TestFilter_OneWhoseCallHasEndedWaitsForNoPlace(t *testing.T) {
	for range cap(matching) {
		matching <- struct{}{}
	}
	pattern := regexp.MustCompile("a")
	ended := make(chan struct{})
	close(ended)
	for _, f := range []*filter{{pattern: pattern, ended: ended}, {pattern: pattern, stopping: ended}} {
		if f.admitsSubject("a") {
			t.Error("a call that has ended has a place")
		}
	}
	admitted := make(chan bool, 1)
	go func() { admitted <- (&filter{pattern: pattern}).admitsSubject("a") }()
	select {
	case <-admitted:
		t.Error("there are more places")
	case <-time.After(10 * time.Millisecond):
	}
	for range cap(matching) {
		<-matching
	}
	if !<-admitted {
		t.Error("what matches is not admitted")
	}
	if (&filter{pattern: pattern, ended: ended}).admitsSubject("a") || (&filter{stopping: ended, pattern: pattern}).
		admitsSubject("a") {
		t.Error("a call that has ended goes on while there are places")
	}
}

// TestFilter_HidesInternalStreams: even a filter that admits every name hides them.
func TestFilter_HidesInternalStreams(t *testing.T) {
	t.Parallel()
	everything := &filter{prefixes: []string{""}}
	for stream, want := range map[string]bool{
		"s":                  true,
		"$users":             true,
		"$epoch-information": false,
		"$persistentsubscription-$all::g-checkpoint": false,
		"$persistentsubscription-$all::g-parked":     false,
		"$persistentsubscription-s::g-parked":        true,
	} {
		if got := everything.admits(&record{stream: stream, kind: "t"}); got != want {
			t.Errorf("%s: %t", stream, got)
		}
	}
	if (&filter{}).admits(&record{stream: "s", kind: "t"}) {
		t.Error("no prefix admits something")
	}
}

// TestCheckpoints_EveryIntervalNeverTwice: no position gets two checkpoints.
func TestCheckpoints_EveryIntervalNeverTwice(t *testing.T) {
	t.Parallel()
	c := checkpoints{interval: 3}
	var due []int64
	for p := int64(1); p <= 7; p++ {
		if c.consider(p) {
			due = append(due, p)
		}
	}
	if len(due) != 2 || due[0] != 3 || due[1] != 6 {
		t.Errorf("due at %v", due)
	}
	if !c.mark(7) || c.mark(7) || c.mark(6) {
		t.Error("a checkpoint is repeated or goes back")
	}
	if (&checkpoints{}).mark(9) || (&checkpoints{}).consider(9) {
		t.Error("an unfiltered subscription asks for a checkpoint")
	}
}
