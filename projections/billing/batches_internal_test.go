package billingviews

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestBatchOf_NoImportIsLookedForBehindACommandOfItsOwn: the statement that looks for one runs for each customer, and a
// front desk would wait for one after the other.
func TestBatchOf_NoImportIsLookedForBehindACommandOfItsOwn(t *testing.T) {
	t.Parallel()
	command, batch := id.New[id.Command](), id.New[id.Batch]()
	for correlation, want := range map[string]id.Batch{
		command.String(): {}, "": {}, "no id": {}, batch.String(): batch,
	} {
		if got := batchOf(events.Metadata{CommandID: command, CorrelationID: correlation}); got != want {
			t.Errorf("correlation %q: batch %v", correlation, got)
		}
	}
}
