package billingcases_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// historyYears is how long the measured customer is one.
const historyYears = 5

// Aims of a history: to load it is to read all of its events, or less; to decide after it is to decide at its
// beginning; and the 2,048 accounts that a program keeps in memory need 256 MiB at most, so one of them 128 KiB.
const (
	historyLoadAim   = 0.9
	historyDecideAim = 0.8
	historyMemory    = 128 << 10
)

// history is a log with one account that has been used for years: each period was invoiced and paid.
type history struct {
	*coretest.Kit
	org   id.Organization
	amina id.Subscriber
	made  int // invoices so far
	begun time.Time
}

// BenchmarkHistory measures what five years of one account cost, of a customer who pays by the month and of one who
// pays by the day, whose stream is closed several times. BENCH_HISTORY_YEARS is the number of years.
//
// "load" is how often a second a program without memory of the account reads and folds it; the limit reads all of its
// events and folds nothing. "decide" is how many receipts a second a program that knows the account
// credits to it; the limit is the same on an account of one period. "memory" is how much the program keeps of it.
func BenchmarkHistory(b *testing.B) {
	years := benchtest.Size(b, "HISTORY_YEARS", historyYears)
	for _, c := range []struct {
		name string
		unit calendar.Period
		each int // periods of a year
	}{{"monthly", calendar.Month, 12}, {"daily", calendar.Day, 365}} {
		b.Run(c.name, func(b *testing.B) {
			old, young := newHistory(b, c.unit, years*c.each), newHistory(b, c.unit, 1)
			b.Run("load", old.load)
			b.Run("memory", old.memory)
			b.Run("decide", func(b *testing.B) {
				for b.Loop() {
					benchtest.Compare(b, "receipts/s", historyDecideAim, old.credits(b), young.credits(b))
				}
			})
		})
	}
}

// newHistory makes an account of so many periods.
func newHistory(b *testing.B, unit calendar.Period, periods int) *history {
	b.Helper()
	h := &history{
		Kit: coretest.New(b, clock.System()), org: id.New[id.Organization](), amina: id.New[id.Subscriber](),
		begun: time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC),
	}
	bus.Register(h.Bus, billing.Accounts())
	meta := coretest.Operator(h.org)
	for from := h.begun; h.made < periods; h.made++ {
		to := unit.Next(from, 0, h.begun, time.UTC)
		invoice, receipt := id.New[id.Invoice](), id.New[id.Receipt]()
		for _, c := range []commands.Command{
			commands.DraftInvoice{
				SubscriberID: h.amina, OrgID: h.org, InvoiceID: invoice, SubscriptionID: id.New[id.Subscription](),
				PeriodFrom: from, PeriodTo: to, Currency: money.KES, Prefix: "ACME", DueOn: calendar.On(from, time.UTC),
				Lines: []commands.LineInput{{
					Description: "Home", Quantity: "1", UnitPrice: money.Major(1500, money.KES),
				}},
			},
			commands.IssueInvoice{
				SubscriberID: h.amina, InvoiceID: invoice, Number: fmt.Sprintf("ACME-%06d", h.made+1),
			},
			h.receipt(receipt, 1500, from),
		} {
			meta.CommandID = id.New[id.Command]()
			h.Run(b, meta, c)
		}
		from = to
	}
	return h
}

// receipt credits shillings that were paid at an instant.
func (h *history) receipt(receipt id.Receipt, shillings int64, at time.Time) commands.CreditReceipt {
	return commands.CreditReceipt{
		SubscriberID: h.amina, OrgID: h.org, ReceiptID: receipt, Number: receipt.String()[:10], Channel: "c2b",
		Amount: money.Major(shillings, money.KES), PaidAt: at,
	}
}

// forgetful is a bus on the log that remembers nothing.
func (h *history) forgetful() *bus.Bus {
	b := bus.New(bus.Config{
		Store: h.Store, Claims: storetest.ClaimKey, Clock: clock.System(), Logger: storetest.Quiet(),
	})
	bus.Register(b, billing.Accounts())
	return b
}

// load measures loading the account.
func (h *history) load(b *testing.B) {
	for b.Loop() {
		benchtest.Compare(b, "loads/s", historyLoadAim, func() float64 {
			return benchtest.Rate(b, 1, func(ctx context.Context, _ int) error {
				_, _, err := bus.LoadOwned[billing.Account](ctx, h.forgetful(), h.org, h.amina)
				return err
			})
		}, func() float64 {
			return benchtest.Rate(b, 1, func(ctx context.Context, _ int) error {
				_, err := h.events(ctx)
				return err
			})
		})
	}
}

// events reads all events of the account, in whatever period, and counts them.
func (h *history) events(ctx context.Context) (count int, err error) {
	for after := uint64(0); ; {
		list, next, err := h.Store.ReadAll(ctx, after, math.MaxInt64, accountEvents())
		if err != nil || next == after {
			return count, err
		}
		count, after = count+len(list), next
	}
}

// accountEvents are the types of an account's events.
func accountEvents() (types []string) {
	for _, e := range catalog.Events() {
		if _, is := e.(events.AccountEvent); is {
			types = append(types, e.EventType())
		}
	}
	return types
}

// copies is how many programs know the account while its memory is measured.
const copies = 16

// memory measures what a program keeps of the account: its state, and the commands that have acted on it.
func (h *history) memory(b *testing.B) {
	for b.Loop() {
		knowing := make([]*bus.Bus, copies)
		for i := range knowing {
			knowing[i] = h.forgetful()
		}
		before := liveHeap()
		for _, one := range knowing {
			if _, _, err := bus.LoadOwned[billing.Account](b.Context(), one, h.org, h.amina); err != nil {
				b.Fatal(err)
			}
		}
		kept := float64(liveHeap()-before) / copies
		runtime.KeepAlive(knowing)
		count, err := h.events(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(count), "events")
		b.ReportMetric(float64(h.made), "invoices")
		benchtest.ReportSize(b, "account", kept, historyMemory, 1)
	}
}

// liveHeap is the size of the heap without garbage, in bytes. Only the second collection empties pools, such as those
// of the connection to the log, which are nothing of an account.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below
}

// credits measures the receipts a second that are credited to the account, one after the other.
func (h *history) credits(b *testing.B) func() float64 {
	return func() float64 {
		return benchtest.Rate(b, 1, func(ctx context.Context, _ int) error {
			_, err := h.Bus.Execute(ctx, h.receipt(id.New[id.Receipt](), 1, h.begun), coretest.Operator(h.org))
			return err
		})
	}
}
