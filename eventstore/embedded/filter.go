package embedded

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// defaultWindow is the search window, in events, when the client leaves it to the server.
const defaultWindow = 32

// filter selects events of $all by stream name or event type. nil selects all events.
type filter struct {
	byStream bool
	user     bool           // all names but those of the system, which begin with $; decides alone
	pattern  *regexp.Regexp // nil = prefixes decide
	prefixes []string
	interval uint64          // events considered between two checkpoints
	ended    <-chan struct{} // closed when the call has ended
	stopping <-chan struct{} // closed when the node stops

	// Of the types in typeBlocks, for one reader at a time: those up to seen that pass.
	wanted typeSet
	seen   int
}

// userPattern is how clients ask for all events but those of the system. Each event that the program follows is held
// against it.
const userPattern = `^[^\$].*`

// parseFilter checks and converts the filter of a plain read (subscribe = false) or of a subscription.
func parseFilter(o *streams.ReadReq_Options_FilterOptions, subscribe bool) (*filter, error) {
	f := &filter{}
	var e *streams.ReadReq_Options_FilterOptions_Expression
	switch by := o.GetFilter().(type) {
	case *streams.ReadReq_Options_FilterOptions_StreamIdentifier:
		f.byStream, e = true, by.StreamIdentifier
	case *streams.ReadReq_Options_FilterOptions_EventType:
		e = by.EventType
	default:
		return nil, invalidArgument("the filter names neither stream nor event type")
	}
	switch e.GetRegex() {
	case "":
		f.prefixes = e.GetPrefix()
		bytes := 0
		for _, p := range f.prefixes {
			bytes += len(p) + 16
		}
		if bytes > prefixesBytes {
			return nil, invalidArgument("the filter's prefixes, each with 16 bytes besides, take more than 16 KiB")
		}
	case userPattern:
		f.user = true
	default:
		var err error
		if f.pattern, err = compilePattern(e.GetRegex()); err != nil {
			return nil, invalidArgument("the filter's regular expression is not supported: " + err.Error())
		}
	}
	window := uint64(defaultWindow)
	switch w := o.GetWindow().(type) {
	case *streams.ReadReq_Options_FilterOptions_Count:
	case *streams.ReadReq_Options_FilterOptions_Max:
		window = uint64(w.Max)
	default:
		return nil, invalidArgument("the filter has no search window")
	}
	if window == 0 {
		return nil, invalidArgument("the filter's search window must be greater than 0")
	}
	if subscribe && o.GetCheckpointIntervalMultiplier() == 0 {
		return nil, invalidArgument("the checkpoint interval multiplier must be greater than 0")
	}
	f.interval = window * uint64(o.GetCheckpointIntervalMultiplier())
	return f, nil
}

// Bounds of a filter, because each of 2,048 calls may have one.
const (
	patternSteps  = 1000     // of an expression: its length, and that when its repetitions are written out
	prefixesBytes = 16 << 10 // of prefixes, and what each takes besides
)

// matching has a place for each expression that is held against a name: half of the processors are left to others.
var matching = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// compilePattern compiles a regular expression, unless it is too large.
func compilePattern(expression string) (*regexp.Regexp, error) {
	large := fmt.Errorf("it has more than %d steps", patternSteps)
	if len(expression) > patternSteps {
		return nil, large
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	switch {
	case err != nil:
		return nil, err
	case stepsOf(parsed) > patternSteps:
		return nil, large
	}
	return regexp.Compile(withoutCaptures(parsed).String())
}

// withoutCaptures replaces the captures of an expression by what they capture: nobody asks for them, and each of them
// takes memory of each step.
func withoutCaptures(e *syntax.Regexp) *syntax.Regexp {
	for i, part := range e.Sub {
		e.Sub[i] = withoutCaptures(part)
	}
	if e.Op == syntax.OpCapture {
		return e.Sub[0]
	}
	return e
}

// matches holds the expression against a name, when there is a place. Nothing matches when the call ends, or is to end.
func (f *filter) matches(subject string) bool {
	select {
	case <-f.ended:
		return false
	case <-f.stopping:
		return false
	default:
	}
	select {
	case matching <- struct{}{}:
	case <-f.ended:
		return false
	case <-f.stopping:
		return false
	}
	defer func() { <-matching }()
	return f.pattern.MatchString(subject)
}

// stepsOf is the size of an expression whose repetitions are written out, at least; the parser bounds those.
func stepsOf(e *syntax.Regexp) int {
	n := 1 + len(e.Rune)
	for _, part := range e.Sub {
		n += stepsOf(part)
	}
	if e.Op == syntax.OpRepeat {
		n *= max(e.Min, e.Max, 1)
	}
	return n
}

// admits reports whether the event passes the filter.
func (f *filter) admits(r *record) bool {
	if f == nil {
		return true
	}
	if hiddenFromFilters(r.stream) {
		return false
	}
	if f.byStream {
		return f.admitsSubject(r.stream)
	}
	return f.admitsSubject(r.kind)
}

// admitsSubject reports whether the name of a stream or of a type passes, whichever the filter is about.
func (f *filter) admitsSubject(subject string) bool {
	switch {
	case f.user:
		return subject != "" && subject[0] != '$'
	case f.pattern != nil:
		return f.matches(subject)
	}
	for _, p := range f.prefixes {
		if strings.HasPrefix(subject, p) {
			return true
		}
	}
	return false
}

// checkpoints counts the events that a filtered subscription has searched. The zero value, without an interval, never
// asks for a checkpoint.
type checkpoints struct {
	interval   uint64
	considered uint64
	last       int64 // last position a checkpoint named, or the start of the subscription
}

// consider counts an event and reports whether a checkpoint is due at its position.
func (c *checkpoints) consider(position int64) bool {
	if c.interval == 0 {
		return false
	}
	c.considered++
	return c.considered >= c.interval && c.mark(position)
}

// mark moves the last checkpoint to a position; false when it is there already or the subscription has no filter.
func (c *checkpoints) mark(position int64) bool {
	if c.interval == 0 || position <= c.last {
		return false
	}
	c.considered, c.last = 0, position
	return true
}
