package eventstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// TestClose_CallsAfterItAreToldToTryAgain: a request that meets the end of the program is no fault of the program; the
// next one serves it.
func TestClose_CallsAfterItAreToldToTryAgain(t *testing.T) {
	t.Parallel()
	store := storetest.New(t).Open()
	store.Close()
	_, read := store.Head(t.Context())
	_, page := store.Read(t.Context(), stream(), 0)
	_, append := store.Append(t.Context(), stream(), eventstore.NoStream, several(1))
	for name, err := range map[string]error{"head": read, "read": page, "append": append} {
		if failure.KindOf(err) != failure.Unavailable || !errors.Is(err, eventstore.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSubscribe_BeyondTheEndOfTheLogIsRefused: what the log gets there would never be given.
func TestSubscribe_BeyondTheEndOfTheLogIsRefused(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	if _, err := kit.Store.Append(t.Context(), stream(), eventstore.NoStream, several(3)); err != nil {
		t.Fatal(err)
	}
	head, err := kit.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var short *eventstore.ShortLogError
	limited, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for _, mark := range []eventstore.Mark{{}, {Position: head + 1, ID: id.New[id.Event]()}} {
		sub := kit.Store.Resume(limited, head+1, mark, nil)
		if _, err := sub.Next(limited); !errors.As(err, &short) || short.Before != head+1 {
			t.Errorf("with the mark %v: %v", mark, err)
		}
		sub.Close()
	}
	if _, err := kit.Store.EventAt(t.Context(), head+1); !errors.As(err, &short) {
		t.Errorf("the event there: %v", err)
	}
}
