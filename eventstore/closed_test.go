package eventstore_test

import (
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/storetest"
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
