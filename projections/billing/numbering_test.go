package billingviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// acmeInvoices is the series of Acme's invoices.
var acmeInvoices = id.Derive[id.Series]("series", acme.String(), "invoice", "ACME")

// numbered is the grant of a number to the n-th invoice.
func numbered(n int, seq int64) events.NumberGranted {
	return events.NumberGranted{
		SeriesID: acmeInvoices, OrgID: acme, Document: "invoice", DocumentID: id.As[id.Any](invoiceID(n)),
		SubscriberID: amina, Seq: seq, At: at(int(seq)),
	}
}

// byRun is an invoice that a billing run makes, and numbers by itself.
func byRun(e events.InvoiceDrafted) events.InvoiceDrafted {
	e.RunID = id.Derive[id.BillingRun]("test", "run")
	return e
}

// numbers has invoices in every state of their way to a number, one that an older program granted two, and a credit
// note in a series of its own.
func numbers() []events.Event {
	note := id.Derive[id.Receipt]("test", "note")
	return []events.Event{
		drafted(1, amina, 100, 1, 10), drafted(2, amina, 100, 1, 10), drafted(3, brian, 100, 1, 10),
		drafted(4, brian, 100, 1, 10), numbered(1, 1), numbered(2, 2), issued(1, amina, 100, 2, 10),
		numbered(1, 3), // by an older program
		events.InvoiceVoided{
			SubscriberID: amina, InvoiceID: id.Derive[id.Invoice]("test", "stray"), StrayOf: invoiceID(1),
			Number: "ACME-0003", At: at(3),
		},
		events.InvoiceVoided{SubscriberID: brian, InvoiceID: invoiceID(3), At: at(4)}, // its number is still to come
		numbered(3, 4),
		events.InvoiceVoided{SubscriberID: brian, InvoiceID: invoiceID(3), Number: "ACME-0004", At: at(5)},
		events.CreditNoteDrafted{
			SubscriberID: amina, OrgID: acme, CreditNoteID: note, InvoiceID: invoiceID(1), Amount: kes(50),
			Prefix: "ACME-CN", DraftedAt: at(6),
		},
		drafted(1, amina, 100, 7, 10), // drafted again after its account had forgotten it
		byRun(drafted(5, amina, 100, 8, 10)),
	}
}

func TestNumbering_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	for _, e := range numbers() {
		s.Add("account-story", e)
	}
	projectiontest.Check(t, billingviews.Numbering{}, s)
}

// Only what has no number waits, in the order of the drafts, beside the last number of the series. What was granted
// long ago and is not issued does not hold up the series.
func TestNumbering_ListsWhatWaitsBesideTheLastNumber(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	for _, e := range numbers() {
		log.Append(events.Metadata{OrgID: acme, At: began}, e)
	}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(billingviews.Numbering{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	head, _ := log.Head(t.Context())
	coretest.WaitFor(t, r.Views(), head, billingviews.NumberingName)
	q := billingviews.NumberingQuery{Views: r.Views()}
	for since, granted := range map[time.Time]int{began: 1, at(1): 1, at(2): 0} {
		list, err := q.Series(t.Context(), since, at(9))
		want := []billingviews.WaitingSeries{
			{
				SeriesID: id.Derive[id.Series]("series", acme.String(), "credit_note", "ACME-CN"), OrgID: acme,
				Kind: "credit_note", Prefix: "ACME-CN",
			},
			{SeriesID: acmeInvoices, OrgID: acme, Kind: "invoice", Prefix: "ACME", Last: 4, Granted: granted},
		}
		if granted == 0 {
			want[0], want[1] = want[1], want[0] // the older draft comes first
		}
		if diff := cmp.Diff(want, list); err != nil || diff != "" {
			t.Errorf("series since %s: %v (-want +got)\n%s", since, err, diff)
		}
	}
	list, err := q.Documents(t.Context(), acmeInvoices, at(8).Add(29*time.Second), 10)
	want := []billingviews.WaitingDocument{{Last: 4, DocumentID: id.As[id.Any](invoiceID(4)), SubscriberID: brian}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("documents: %v (-want +got)\n%s", err, diff)
	}
	// What a run has left waits like any other document half a minute later.
	if list, err = q.Documents(t.Context(), acmeInvoices, at(8).Add(30*time.Second), 10); err != nil || len(list) != 2 {
		t.Errorf("half a minute after the draft %v wait: %v", list, err)
	}
}

// The credit note over an invoice that is replaced has its number after the corrected one is issued, or voided. Until
// all have ended, something waits.
func TestNumbering_ANoteWaitsForTheInvoiceInThePlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	note := id.Derive[id.Receipt]("test", "note")
	drafts := []events.Event{
		events.InvoiceDrafted{
			SubscriberID: brian, OrgID: acme, InvoiceID: invoiceID(8), Replaces: invoiceID(7), Prefix: "ACME",
			Total: kes(100), DraftedAt: began,
		},
		events.CreditNoteDrafted{
			SubscriberID: brian, OrgID: acme, CreditNoteID: note, InvoiceID: invoiceID(7), ReplacedBy: invoiceID(8),
			Amount: kes(100), Prefix: "ACME-CN", DraftedAt: began,
		},
	}
	for name, end := range map[string]events.Event{
		"issued": events.InvoiceIssued{SubscriberID: brian, OrgID: acme, InvoiceID: invoiceID(8), Number: "ACME-0008"},
		"voided": events.InvoiceVoided{SubscriberID: brian, InvoiceID: invoiceID(8), Total: kes(100)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := feedtest.New()
			r := runner.New(runner.Config{
				Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began),
			})
			r.Register(billingviews.Numbering{})
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Stop)
			q := billingviews.NumberingQuery{Views: r.Views()}
			waiting := func(list ...events.Event) (kinds []string) {
				var last uint64
				for _, e := range list {
					last = log.Append(events.Metadata{OrgID: acme, At: began}, e)
				}
				coretest.WaitFor(t, r.Views(), last, billingviews.NumberingName)
				series, err := q.Series(t.Context(), began, at(9))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range series {
					kinds = append(kinds, s.Kind)
				}
				if busy, err := q.Waiting(t.Context(), last); !busy || err != nil {
					t.Errorf("nothing waits: %v", err)
				}
				return kinds
			}
			if kinds := waiting(drafts...); !slices.Equal(kinds, []string{"invoice"}) {
				t.Errorf("drafted: %v wait", kinds)
			}
			if kinds := waiting(end); !slices.Contains(kinds, "credit_note") {
				t.Errorf("%s: %v wait", name, kinds)
			}
		})
	}
}
