package changesapi

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/changes"
)

// tellMany publishes so many batches with one change each.
func tellMany(r *room, n int) {
	for i := range n {
		r.add(changesviews.Change{Topic: changesviews.Plans, ID: id.New[id.Any](), At: time.Unix(1, 0).UTC()})
		r.publish(uint64(i + 1)) //nolint:gosec // few
	}
}

func TestRoom_ASlowReaderGetsAllBatchesAtOnceOrHasToReadAgain(t *testing.T) {
	t.Parallel()
	r := newRoom(id.New[id.Organization]())
	tellMany(r, keptBatches)
	text, messages, missed := r.since(0, events.RoleSupport)
	if messages != keptBatches || missed || !strings.HasSuffix(string(text), "id: 16\n\n") {
		t.Errorf("%d messages, missed %v: %s", messages, missed, text)
	}
	tellMany(r, 1)
	if _, _, missed := r.since(0, events.RoleSupport); !missed {
		t.Error("a reader misses a batch without being told")
	}
	if _, messages, missed := r.since(1, events.RoleSupport); missed || messages != keptBatches {
		t.Errorf("%d messages, missed %v", messages, missed)
	}
}

func TestRoom_APositionIsToldWithTheLastChangeBeforeIt(t *testing.T) {
	t.Parallel()
	r := newRoom(id.New[id.Organization]())
	r.add(changesviews.Change{Topic: changesviews.Plans, At: time.Unix(1, 0).UTC()})
	r.add(changesviews.Change{Topic: changesviews.Invoices, At: time.Unix(1, 0).UTC()})
	r.add(changesviews.Change{Topic: changesviews.Users, At: time.Unix(1, 0).UTC()})
	r.publish(7)
	text, messages, _ := r.since(0, events.RoleSupport)
	want := `data: {"topic":"plans","at":"1970-01-01T00:00:01Z"}

data: {"topic":"invoices","at":"1970-01-01T00:00:01Z"}
id: 7

`
	if string(text) != want || messages != 2 {
		t.Errorf("%d messages: %s", messages, text)
	}
	if text, messages, _ := r.since(0, events.RoleSubscriber); len(text) != 0 || messages != 0 {
		t.Errorf("a customer gets %s", text)
	}
}
