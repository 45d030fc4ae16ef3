package catalog_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestIsOwn_ByCategoryAndByMetadata(t *testing.T) {
	t.Parallel()
	event, stream := id.New[id.Event](), id.New[id.Any]().String()
	written := `{"eventId":"` + event.String() + `","commandId":null,"aggregateId":null}`
	for _, c := range []struct {
		stream, metadata string
		own              bool
	}{
		{"plan-" + stream, `{}`, true},
		{"batch_undo-" + stream, ``, true},
		{"plan-1", `{}`, false},
		{"plan-{" + stream[1:35] + "}", `{}`, false},
		{"plan", `{}`, false},
		{"", ``, false},
		{"orders-" + stream, `{"commandId":"x"}`, false},
		{"orders-" + stream, "\xff\x00", false},
		{"$ce-plan-" + stream, `{}`, false},
		{"$$plan-" + stream, `{}`, false},
		{"bundle-" + stream, written, true},
		{"bundle-" + stream, `{"eventId":"` + id.New[id.Event]().String() + `","commandId":null}`, false},
	} {
		r := catalog.Recorded{
			Encoded: catalog.Encoded{ID: event, Metadata: []byte(c.metadata)}, Stream: c.stream,
		}
		if got := catalog.IsOwn(r); got != c.own {
			t.Errorf("%q with metadata %q: own %v, want %v", c.stream, c.metadata, got, c.own)
		}
	}
	if !slices.IsSorted(catalog.Categories()) {
		t.Error("the categories are not sorted")
	}
}
