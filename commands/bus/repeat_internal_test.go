package bus

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestRepeat_AFailureAfterAnUnknownOutcomeSettlesNothing: the append may have been written by the attempt before, so
// that no claim may be given back, and nobody be told that it was refused.
func TestRepeat_AFailureAfterAnUnknownOutcomeSettlesNothing(t *testing.T) {
	t.Parallel()
	forgotten := failure.New(failure.Conflict, "subject_forgotten", "The person was erased.")
	for name, c := range map[string]struct {
		answers []error
		unknown bool
	}{
		"a query fails":            {[]error{eventstore.ErrUnavailable, errors.New("read subject keys")}, true},
		"the person is forgotten":  {[]error{eventstore.ErrUnavailable, forgotten}, true},
		"another revision":         {[]error{eventstore.ErrUnavailable, eventstore.ErrWrongRevision}, false},
		"refused at once":          {[]error{forgotten}, false},
		"written after all":        {[]error{eventstore.ErrUnavailable, eventstore.ErrUnavailable, nil}, false},
		"unknown for a long while": {[]error{eventstore.ErrUnavailable}, true},
	} {
		b := &Bus{cfg: Config{AppendPatience: 500 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}}
		tries := 0
		_, err := b.repeat(t.Context(), "s", func(context.Context) (eventstore.Appended, error) {
			last := c.answers[min(tries, len(c.answers)-1)]
			tries++
			return eventstore.Appended{}, last
		})
		if outcomeUnknown(err) != c.unknown || tries < len(c.answers) {
			t.Errorf("%s: after %d tries: %v", name, tries, err)
		}
		if c.unknown && failure.KindOf(err) != failure.Unavailable {
			t.Errorf("%s: it is told as %v", name, failure.KindOf(err))
		}
	}
}
