package billing_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// grant asks for the number of the n-th document.
func grant(n int) commands.GrantNumber {
	return commands.GrantNumber{
		SeriesID: commands.SeriesOf(org, commands.InvoiceDocument, "ACME"), OrgID: org,
		Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoiceID(n)), SubscriberID: subscriber,
		Prefix: "ACME",
	}
}

// granted executes the n-th request on a series and folds its events.
func granted(
	t interface{ Fatalf(string, ...any) }, s billing.Numbering, n int,
) (billing.Numbering, []events.NumberingEvent) {
	c := grant(n)
	if err := c.Validate(); err != nil {
		t.Fatalf("validate: %v", err)
	}
	made, err := billing.NumberSeries().Decide(s, c, now)
	if err != nil {
		t.Fatalf("grant: %v", err)
	}
	for _, e := range made {
		s = billing.NumberSeries().Evolve(s, e)
	}
	return s, made
}

func TestGrantNumber_FirstOfASeries(t *testing.T) {
	t.Parallel()
	_, made := granted(t, billing.Numbering{}, 1)
	want := []events.NumberingEvent{events.NumberGranted{
		SeriesID: commands.SeriesOf(org, commands.InvoiceDocument, "ACME"), OrgID: org,
		Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoiceID(1)), SubscriberID: subscriber, Seq: 1,
		Number: "ACME-0001", At: now,
	}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
}

func TestGrantNumber_WithoutGapsAndOnceForADocumentOverClosedPeriods(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s billing.Numbering
		have := map[int]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := rapid.IntRange(1, 30).Draw(t, "document")
			var made []events.NumberingEvent
			s, made = granted(t, s, n)
			if have[n] != (len(made) == 0) {
				t.Fatalf("document %d had a number: %v, granted %v", n, have[n], made)
			}
			have[n] = true
			if len(made) > 0 {
				//nolint:forcetypeassert // the series has only this type beside the closing event
				e := made[0].(events.NumberGranted)
				if e.Seq != int64(len(have)) || e.Number != fmt.Sprintf("ACME-%04d", len(have)) {
					t.Fatalf("granted %s as number %d, want %d", e.Number, e.Seq, len(have))
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "close") == 0 {
				next := billing.NumberSeries().Evolve(billing.Numbering{}, billing.NumberSeries().Close(s))
				if diff := cmp.Diff(s, next); diff != "" {
					t.Fatalf("closing the period changed the series:\n%s", diff)
				}
				s = next
			}
		}
	})
}

func TestGrantNumber_RemembersAThousandDocuments(t *testing.T) {
	t.Parallel()
	var s billing.Numbering
	for n := range 1500 {
		s, _ = granted(t, s, n)
	}
	s = billing.NumberSeries().Evolve(billing.Numbering{}, billing.NumberSeries().Close(s))
	if _, made := granted(t, s, 500); len(made) > 0 {
		t.Errorf("the thousandth document back was granted %v", made)
	}
	if s.Last != 1500 || billing.NumberSeries().Owner(s) != org {
		t.Errorf("series stands at %d of %s", s.Last, s.OrgID)
	}
}
