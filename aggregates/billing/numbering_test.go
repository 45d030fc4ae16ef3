package billing_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// series is the series of these tests.
var series = commands.SeriesOf(org, commands.InvoiceDocument, "ACME")

// block asks for the numbers of documents after a number.
func block(after int64, documents ...int) commands.GrantNumbers {
	c := commands.GrantNumbers{
		SeriesID: series, OrgID: org, Document: commands.InvoiceDocument, Prefix: "ACME", After: after,
	}
	for _, n := range documents {
		c.Documents = append(c.Documents, commands.NumberedDocument{
			DocumentID: id.As[id.Any](invoiceID(n)), SubscriberID: subscriber,
		})
	}
	return c
}

// granted executes a request on a series and folds its events.
func granted(
	t interface{ Fatalf(string, ...any) }, s billing.Numbering, c commands.NumberingCommand,
) (billing.Numbering, []events.NumberingEvent) {
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

func TestGrantNumbers_BlockFollowsTheLastNumberInOneAppend(t *testing.T) {
	t.Parallel()
	number := func(n int, seq int64) events.NumberGranted {
		return events.NumberGranted{
			SeriesID: series, OrgID: org, Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoiceID(n)),
			SubscriberID: subscriber, Seq: seq, Number: fmt.Sprintf("ACME-%04d", seq), At: now,
		}
	}
	s, made := granted(t, billing.Numbering{}, block(0, 7))
	if diff := cmp.Diff([]events.NumberingEvent{number(7, 1)}, made); diff != "" {
		t.Errorf("first block (-want +got):\n%s", diff)
	}
	s, made = granted(t, s, block(1, 9, 8))
	if diff := cmp.Diff([]events.NumberingEvent{number(9, 2), number(8, 3)}, made); diff != "" {
		t.Errorf("second block (-want +got):\n%s", diff)
	}
	if want := (billing.Numbering{SeriesID: series, OrgID: org, Last: 3}); s != want {
		t.Errorf("series is %+v, want %+v", s, want)
	}
	decidertest.For(t, billing.NumberSeries(), now).Given(number(7, 1)).BelongsTo(org, "not_found")
}

// Whoever asks from an old list, once or a million numbers later, gets nothing: its documents may have numbers.
func TestGrantNumbers_OldListIsGrantedNothingWhateverTheDistance(t *testing.T) {
	t.Parallel()
	for _, after := range []int64{0, 1, 1_999_999, 2_000_001} {
		s := billing.Numbering{SeriesID: series, OrgID: org, Last: 2_000_000}
		if _, made := granted(t, s, block(after, 1, 2)); len(made) > 0 {
			t.Errorf("a list as of number %d was granted %v", after, made)
		}
	}
	one := commands.GrantNumber{
		SeriesID: series, OrgID: org, Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoiceID(1)),
		SubscriberID: subscriber, Prefix: "ACME",
	}
	if _, made := granted(t, billing.Numbering{}, one); len(made) > 0 {
		t.Errorf("a row of an older program was granted %v beside the blocks", made)
	}
}

// Callers that see the series late, or twice at once, never give a document two numbers, and leave no gap.
func TestGrantNumbers_WithoutGapsAndOnceForADocumentOverClosedPeriods(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s billing.Numbering
		var log []events.NumberGranted
		drafts := rapid.IntRange(1, 60).Draw(t, "drafts")
		for range 40 {
			seen := rapid.IntRange(0, len(log)).Draw(t, "seen") // the caller knows so many grants
			has, after := map[id.Any]bool{}, int64(0)
			for _, g := range log[:seen] {
				has[g.DocumentID], after = true, g.Seq
			}
			var waiting []int
			for n := range drafts {
				if !has[id.As[id.Any](invoiceID(n))] {
					waiting = append(waiting, n)
				}
			}
			if len(waiting) == 0 {
				continue
			}
			var made []events.NumberingEvent
			s, made = granted(t, s, block(after, waiting[:rapid.IntRange(1, len(waiting)).Draw(t, "size")]...))
			for _, e := range made {
				//nolint:forcetypeassert // a decision has no closing event
				log = append(log, e.(events.NumberGranted))
			}
			if rapid.IntRange(0, 3).Draw(t, "close") == 0 {
				next := billing.NumberSeries().Evolve(billing.Numbering{}, billing.NumberSeries().Close(s))
				if diff := cmp.Diff(s, next); diff != "" {
					t.Fatalf("closing the period changed the series:\n%s", diff)
				}
			}
		}
		have := map[id.Any]bool{}
		for i, g := range log {
			if have[g.DocumentID] || g.Seq != int64(i)+1 || g.Number != fmt.Sprintf("ACME-%04d", i+1) {
				t.Fatalf("grant %d is %+v", i, g)
			}
			have[g.DocumentID] = true
		}
	})
}

// Openings of older programs also list their newest documents.
func TestNumbering_ReadsOpeningsOfOlderPrograms(t *testing.T) {
	t.Parallel()
	s := billing.NumberSeries().Evolve(billing.Numbering{}, events.NumberingPeriodClosed{Opening: []byte(
		`{"series":"` + series.String() + `","org":"` + org.String() + `","last":1042,"recent":[{"doc":"` +
			invoiceID(1).String() + `","seq":1042}]}`)})
	if want := (billing.Numbering{SeriesID: series, OrgID: org, Last: 1042}); s != want {
		t.Errorf("series is %+v, want %+v", s, want)
	}
}

func TestGrantNumbers_BlockHasAtMostAThousandDifferentDocuments(t *testing.T) {
	t.Parallel()
	all := make([]int, commands.MaxNumberBlock+1)
	for n := range all {
		all[n] = n
	}
	if err := block(0, all[:commands.MaxNumberBlock]...).Validate(); err != nil {
		t.Errorf("a full block: %v", err)
	}
	for what, c := range map[string]commands.GrantNumbers{
		"too many": block(0, all...), "none": block(0), "twice": block(0, 1, 1), "negative": block(-1, 1),
	} {
		if failure.KindOf(c.Validate()) != failure.Invalid {
			t.Errorf("%s: %v", what, c.Validate())
		}
	}
}
