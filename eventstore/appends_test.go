package eventstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestAppend_EachOfManyAtOnceGetsItsOwnAnswer lets writers win and lose races at the same time, with small appends that
// share a call and a large one between them, and ends the calls of some callers.
func TestAppend_EachOfManyAtOnceGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	large := several(1)
	large[0].Meta.Reason = strings.Repeat("x", 400<<10)
	var group sync.WaitGroup
	for writer := range 16 {
		group.Go(func() {
			name := "organization-" + id.New[id.Organization]().String()
			for i := range uint64(20) {
				expected := eventstore.NoStream
				if i > 0 {
					expected = eventstore.At(i - 1)
				}
				list := several(1)
				if writer == 0 && i == 10 {
					list = large
				}
				gaveUp, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := kit.Store.Append(gaveUp, name, eventstore.At(i+100), several(1)); err == nil {
					t.Error("a cancelled append at a wrong revision was written")
				}
				done, err := kit.Store.Append(t.Context(), name, expected, list)
				if err != nil || done.Revision != i || done.Position == 0 {
					t.Errorf("append %d: %+v, %v", i, done, err)
					return
				}
				var wrong *eventstore.WrongRevisionError
				_, err = kit.Store.Append(t.Context(), name, expected, several(1))
				if !errors.As(err, &wrong) || wrong.Actual != eventstore.At(i) || wrong.Expected != expected {
					t.Errorf("append at an old revision: %v", err)
				}
			}
			if list, err := kit.Store.Read(t.Context(), name, 0); err != nil || len(list) != 20 {
				t.Errorf("%d events, %v", len(list), err)
			}
		})
	}
	group.Wait()
	none := "organization-" + id.New[id.Organization]().String()
	var wrong *eventstore.WrongRevisionError
	_, err := kit.Store.Append(t.Context(), none, eventstore.At(0), several(1))
	if !errors.As(err, &wrong) || wrong.Actual != eventstore.NoStream {
		t.Errorf("append to a missing stream: %v", err)
	}
}
