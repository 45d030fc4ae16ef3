package subscribersviews_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// The ids of the money in the timeline's story.
var (
	receipt = id.Derive[id.Receipt]("test", "receipt")
	payment = id.Derive[id.Payment]("test", "payment")
	jane    = id.Derive[id.User]("test", "jane")
)

// payments has Amina's and Omar's money on its way. Events of the provider and of processes have no organization.
func payments() []events.Event {
	return []events.Event{
		events.PaymentInitiated{
			PaymentID: payment, OrgID: acme, SubscriberID: amina, Amount: kes(1500), Phone: text("254712345678"),
		},
		events.PromptAccepted{PaymentID: payment, CustomerMessage: "sent to 254712345678"}, // has no subscriber: no row
		events.PaymentFailed{PaymentID: payment, SubscriberID: amina, Code: "1", Message: "Wanjiru has no money"},
		// Money without a subscriber has no row.
		events.ReceiptRecorded{
			ReceiptID: receipt, OrgID: acme, PayerPhone: text("254712345678"), PayerName: text("Wanjiru"),
		},
		events.ReceiptMatched{
			ReceiptID: receipt, OrgID: acme, SubscriberID: amina, ReceiptNumber: "QGHWANJIRU", Channel: "c2b",
			Amount: kes(1500),
		},
		// no subscriber: no row
		events.ReceiptReversed{ReceiptID: receipt, OrgID: acme, Amount: kes(1500), Reason: personal.Of("in suspense")},
		events.ReceiptReattributed{
			ReceiptID: receipt, OrgID: acme, From: amina, To: omar, Amount: kes(1500),
			Reason: personal.Of("it was Omar Ali's"),
		},
		events.ReceiptAbsorbed{
			ReceiptID: receipt, OrgID: acme, SubscriberID: amina, CreditedTo: omar, Amount: kes(1500),
		},
	}
}

// charges is Amina's account.
func charges() []events.Event {
	return []events.Event{
		events.InvoiceIssued{SubscriberID: amina, OrgID: acme, InvoiceID: inv1, Number: "ACME-0001", Total: kes(1500)},
		events.ReceiptCredited{
			SubscriberID: amina, OrgID: acme, ReceiptID: receipt, Number: "QGHWANJIRU", Channel: "c2b",
			Amount: kes(2000),
		},
		events.InvoiceAllocated{
			SubscriberID: amina, InvoiceID: inv1, ReceiptID: receipt, Amount: kes(1500), Due: kes(0),
		},
		events.CreditLeft{SubscriberID: amina, OrgID: acme, Credit: kes(500)},
		events.InvoiceVoided{SubscriberID: amina, InvoiceID: inv2, Total: kes(100), Reason: personal.Of("typo")},
		events.AccountPeriodClosed{SubscriberID: amina}, // bookkeeping, no row
	}
}

// signatures are those of Amina's invoice, and of a credit note of Omar's, which the gateway refuses in its own words.
func signatures() []events.Event {
	invoice := events.SignatureSubject{
		SignatureID: id.As[id.Signature](inv1), OrgID: acme, SubscriberID: amina, Document: events.TaxInvoice,
		InvoiceID: inv1, Number: "ACME-0001",
	}
	gone, note := invoice, invoice
	gone.Document = events.TaxCancellation
	note.SignatureID, note.SubscriberID = id.As[id.Signature](receipt), omar
	note.Document, note.Number = events.TaxCreditNote, "CN-0001"
	return []events.Event{
		events.SignatureQueued{SignatureSubject: invoice}, events.SigningBegan{SignatureSubject: invoice}, // no row
		events.SignatureRefused{SignatureSubject: note, Code: "E7", Message: text("Omar is not known here")},
		events.SignatureRetried{SignatureSubject: note, Round: 1, Reason: text("Omar has a PIN")},
		events.DocumentSigned{SignatureSubject: invoice, ControlNumber: "C-1"},
		events.CancellationDue{SignatureSubject: invoice},
		events.DocumentSigned{SignatureSubject: gone, ControlNumber: "C-2"},
	}
}

// timelineStory has the histories of all three subscribers, with users, a process and the provider as actors.
func timelineStory() *projectiontest.Story {
	by := func(org id.Organization, kind events.ActorKind, name, reason string) func(*events.Metadata) {
		return func(m *events.Metadata) {
			m.OrgID, m.Actor, m.IP, m.Reason = org, events.Actor{Kind: kind, ID: name, Role: "admin"},
				text("198.51.100.7"), reason
		}
	}
	user := jane.String()
	return projectiontest.NewStory(acme, began).With(by(acme, events.ActorUser, user, "")).
		Add("subscriber-1", aminas()...).Add("subscriber-2", omars()[:3]...).
		With(by(acme, events.ActorProcess, "renewal", "a reason")).Add("subscription-1", lines()...).Add("account-1",
		charges()...).Add("signature-1", signatures()...).
		With(by(id.Organization{}, events.ActorProvider, "mobilemoney", "")).Add("payment-1", payments()...).
		// Brian is not registered yet, so his organization is not known: no row
		Add("account-9", events.CreditLeft{SubscriberID: brian, Credit: kes(1)}).
		With(by(acme, events.ActorUser, user, "")).Add("subscriber-2", omars()[3:]...).
		Add("user-1", events.PortalAccessGiven{SubscriberID: amina, OrgID: acme, UserID: jane},
			events.PasswordChanged{UserID: jane}, // no subscriber's: no row
			events.PortalAccessEnded{SubscriberID: amina, OrgID: acme, UserID: jane}).
		With(by(other, events.ActorUser, user, "")).
		Add("subscriber-3", registered(brian, other, "10000032", details("Brian", "Amin", "+254712345678", "vip")))
}

func TestTimeline_StoryEndsInTheseRowsWithoutAnyPerson(t *testing.T) {
	t.Parallel()
	db, tables := projectiontest.Check(t, subscribersviews.Timeline{}, timelineStory())
	dump := projectiontest.Dump(t, db, tables.Schema())
	forgets(t, dump)
	for _, word := range []string{
		"Amina", "amina", "Wanjiru", "WANJIRU", "Tieno", "712345678", "733000111", "Mail.test", "198.51",
		"asked for it", "10000016",
	} {
		if strings.Contains(dump, word) {
			t.Errorf("%q is in a timeline", word)
		}
	}
	if !strings.Contains(dump, "fraud") {
		t.Error("the reason of somebody who was not forgotten is gone")
	}
}

// A process asks for the credit, perhaps often; nothing happens to the subscriber's money.
func TestTimeline_CreditThatWasAskedForHasNoRow(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	tables, err := runner.NewScratch(t.Context(), db, subscribersviews.Timeline{}, "asked")
	if err != nil {
		t.Fatal(err)
	}
	left := events.CreditLeft{SubscriberID: amina, OrgID: acme, Credit: kes(500)}
	asked := left
	asked.Asked = true
	story := projectiontest.NewStory(acme, began).Add("account-1", left, asked)
	if err := tables.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	if dump := projectiontest.Dump(t, db, tables.Schema()); strings.Count(dump, "billing.CreditLeft") != 1 {
		t.Errorf("one row was to be added:\n%s", dump)
	}
}

// A contradiction names no subscriber, but whoever asks about the account must see that its money is in question.
func TestTimeline_TellsTheAccountWhoseMoneyIsDisputed(t *testing.T) {
	t.Parallel()
	receipt := id.Derive[id.Receipt]("test", "disputed")
	credited := func(s id.Subscriber) events.Event {
		return events.ReceiptCredited{
			SubscriberID: s, OrgID: acme, ReceiptID: receipt, Channel: "c2b", Amount: kes(500),
		}
	}
	disputed := events.ReceiptDisputed{ReceiptID: receipt, Sighting: "c2b", Amount: kes(99900), Shortcode: "600100"}
	moved := events.ReceiptReattributed{ReceiptID: receipt, OrgID: acme, From: amina, To: omar, Amount: kes(500)}
	for name, c := range map[string]struct {
		before []events.Event
		whose  id.Subscriber
	}{
		"on an account":    {[]events.Event{credited(amina)}, amina},
		"moved to another": {[]events.Event{credited(amina), moved, credited(omar)}, omar},
		"on the way":       {[]events.Event{credited(amina), moved}, id.Subscriber{}},
		"nobody's":         {nil, id.Subscriber{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			tables, err := runner.NewScratch(t.Context(), db, subscribersviews.Timeline{}, "disputed")
			if err != nil {
				t.Fatal(err)
			}
			story := projectiontest.NewStory(acme, began).Add("account-1", c.before...).Add("receipt-1", disputed)
			if err := tables.Apply(t.Context(), story.Events()); err != nil {
				t.Fatal(err)
			}
			told := ""
			for _, line := range strings.Split(projectiontest.Dump(t, db, tables.Schema()), "\n") {
				if strings.Contains(line, "payments.ReceiptDisputed") {
					told += line
				}
			}
			if c.whose.IsZero() != (told == "") || told != "" && !strings.Contains(told, c.whose.String()) ||
				strings.Contains(told, "999") {
				t.Errorf("told %q", told)
			}
		})
	}
}

// Every event with a subscriber's id has a row, except those listed here with the reason.
func TestTimeline_TellsEveryEventThatNamesASubscriber(t *testing.T) {
	t.Parallel()
	untold := map[string]bool{ // bookkeeping
		"billing.AccountPeriodClosed.v1": true, events.AccountPeriodClosed{}.EventType(): true,
		events.SubscriptionPeriodClosed{}.EventType(): true, events.DunningPeriodClosed{}.EventType(): true,
		events.UsagePeriodClosed{}.EventType(): true, events.CapPeriodMoved{}.EventType(): true,
		events.AccessDifferencePeriodClosed{}.EventType(): true, events.EnforcementPeriodClosed{}.EventType(): true,
		events.DunningReviewed{}.EventType(): true, events.DunningReviewAsked{}.EventType(): true,
		events.MessageQueued{}.EventType(): true, events.MessageAddressed{}.EventType(): true, // its end has a row
		events.MessageDelivered{}.EventType():       true, // that it was sent has a row
		events.NumberGranted{}.EventType():          true, // the document that gets the number has a row
		events.SessionChangeAnnounced{}.EventType(): true, // its outcome has a row
		events.AccessRepairWritten{}.EventType():    true, // the wish for it has a row
		events.ReceiptRefunded{}.EventType():        true, // the refund has rows
		events.PlanChangeMoved{}.EventType():        true, // the plan of it has a row
		events.UndoneWaitEnded{}.EventType():        true, // the period that becomes due then has a row
		// what leads a bill to its end, which has a row; the money has rows of its own
		events.BillQueued{}.EventType(): true, events.BillOffered{}.EventType(): true,
		events.BillFreed{}.EventType(): true, events.BillRecalled{}.EventType(): true,
		events.BillSettled{}.EventType(): true, events.BillReopened{}.EventType(): true,
		events.BillPaid{}.EventType():       true,
		events.BillDelayed{}.EventType():    true,
		events.AccountClosed{}.EventType():  true, // that the customer is removed has a row
		events.ReceiptStalled{}.EventType(): true, // the booking that it asks for has a row
		// its end has a row, and so has the invoice that is void
		events.SignatureQueued{}.EventType(): true, events.SigningBegan{}.EventType(): true,
		events.SignatureWithdrawn{}.EventType(): true,
		events.ApprovalCarriedOut{}.EventType(): true, // what was done has a row
		events.CpeDescribed{}.EventType():       true, // what the device is called is read there
		events.CompensationListed{}.EventType(): true, // what each of the listed gets has a row
	}
	files, err := filepath.Glob("../../events/testdata/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d recorded events, %v", len(files), err)
	}
	told := subscribersviews.Timeline{}.Handles()
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Type string `json:"type"`
			Data any    `json:"data"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		word := e.Type[:strings.LastIndex(e.Type, ".")+1] // an old version is told as its present one
		of := func(t string) bool { return strings.HasPrefix(t, word) }
		if namesSubscriber(e.Data) && !untold[e.Type] && !slices.ContainsFunc(told, of) {
			t.Errorf("%s is not told", e.Type)
		}
	}
}

// namesSubscriber reports whether recorded data has a subscriber's id at any depth.
func namesSubscriber(data any) bool {
	switch data := data.(type) {
	case map[string]any:
		_, names := data["subscriberId"]
		for _, below := range data {
			names = names || namesSubscriber(below)
		}
		return names
	case []any:
		return slices.ContainsFunc(data, namesSubscriber)
	}
	return false
}

func TestTimeline_ListsTheTypesOfCauses(t *testing.T) {
	t.Parallel()
	written := slices.Sorted(maps.Keys(subscribersviews.CausesOf()))
	if diff := cmp.Diff(written, subscribersviews.TimelineCauses); diff != "" {
		t.Errorf("TimelineCauses (-rows +list):\n%s", diff)
	}
}

func TestTimeline_PagesNewestFirstAndOfTheOwnOrganizationOnly(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	for _, e := range timelineStory().Events() {
		log.Append(e.Meta, e.Event)
	}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(subscribersviews.Timeline{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read model: %v", err)
	}
	t.Cleanup(r.Stop)
	head, _ := log.Head(t.Context())
	coretest.WaitFor(t, r.Views(), head, subscribersviews.TimelineName)
	q := subscribersviews.TimelineQuery{Views: r.Views()}
	all, err := q.List(t.Context(), acme, amina, subscribersviews.TimelineFilter{},
		subscribersviews.TimelineKey{}, 100)
	if err != nil || len(all) != 39 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	if first := all[len(all)-1]; first.Type != "subscribers.SubscriberRegistered" || first.ActorKind != "user" ||
		first.CauseID != id.Any(amina) {
		t.Errorf("oldest row %+v", first)
	}
	var paged []subscribersviews.TimelineRow
	for key := (subscribersviews.TimelineKey{}); ; {
		rows, err := q.List(t.Context(), acme, amina, subscribersviews.TimelineFilter{}, key, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		paged, key = append(paged, rows...), subscribersviews.TimelineKey{Position: rows[len(rows)-1].Position}
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("pages (-whole +paged):\n%s", diff)
	}
	if rows, err := q.List(t.Context(), other, amina, subscribersviews.TimelineFilter{},
		subscribersviews.TimelineKey{}, 100); len(rows) > 0 ||
		err != nil {
		t.Errorf("another tenant got %v, %v", rows, err)
	}
	if rows, err := q.List(t.Context(), other, brian, subscribersviews.TimelineFilter{},
		subscribersviews.TimelineKey{}, 100); len(rows) != 1 ||
		err != nil {
		t.Errorf("Brian has %v, %v", rows, err)
	}
}
