package paymentsjobs_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// stated keeps a statement of payments that nobody has told of, as uploaded and compared, and begins its adoption.
func (k *kit) stated(t *testing.T, n int) (which id.Reconciliation, job commands.AdoptStatement, numbers []string) {
	t.Helper()
	which = id.New[id.Reconciliation]()
	var b strings.Builder
	b.WriteString("Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.\n")
	for i := range n {
		number := fmt.Sprintf("SJK40000%02d", i)
		numbers = append(numbers, number)
		fmt.Fprintf(&b, "%s,2026-03-02 11:%02d:00,%d,,10000008\n", number, i, 100+i)
	}
	if err := k.Vault.Statements.Put(t.Context(), vault.StatementOf{ID: which}, []byte(b.String())); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	k.execute(t, commands.StartReconciliation{
		ReconciliationID: which, Environment: commands.EnvironmentSandbox, Shortcode: shortcode, Lines: n,
		From: day, To: day.AddDate(0, 0, 1),
	})
	k.execute(t, commands.FinishComparison{
		ReconciliationID: which, Figures: events.ReconciliationFigures{MissingHere: n},
	})
	done := k.execute(t, commands.AdoptReconciliation{ReconciliationID: which})
	return which, commands.AdoptStatement{ReconciliationID: which, Position: done.Position}, numbers
}

// recordedOnce expects one receipt of each number, and no second sighting of any.
func (k *kit) recordedOnce(t *testing.T, numbers []string) {
	t.Helper()
	for _, number := range numbers {
		if list := k.receiptEvents(t, number); len(list) != 1 || list[0] != "payments.ReceiptRecorded.v2" {
			t.Errorf("%s: %v", number, list)
		}
	}
}

// adopted reads how many receipts a reconciliation says that it took in, over all its adoptions.
func (k *kit) adopted(t *testing.T, which id.Reconciliation) (n int) {
	t.Helper()
	list, err := k.Store.Read(t.Context(), commands.ReconciliationCategory+"-"+which.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if adopted, ok := e.Event.(events.ReconciliationAdopted); ok {
			n += adopted.Adopted
		}
	}
	return n
}

// TestAdoption_KilledAndTriedAgainTakesEachPaymentInOnce: the first try ends after some of the payments.
func TestAdoption_KilledAndTriedAgainTakesEachPaymentInOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	which, job, numbers := k.stated(t, 12)
	ctx, kill := context.WithCancel(t.Context())
	var watched sync.WaitGroup
	watched.Go(func() {
		defer kill()
		for ctx.Err() == nil {
			of, _, err := bus.LoadUnchecked[payments.Receipt](ctx, k.Bus,
				commands.ReceiptID(commands.EnvironmentSandbox, numbers[3]))
			if err == nil && of.Standing != payments.StandingNone {
				return
			}
		}
	})
	cause := newCause()
	if err := k.workers.AdoptStatement(ctx, job, cause); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	kill()
	watched.Wait()
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
	if err := k.workers.AdoptStatement(t.Context(), job, cause); err != nil {
		t.Fatal(err)
	}
	k.recordedOnce(t, numbers)
	if n := k.adopted(t, which); n != len(numbers) {
		t.Errorf("%d receipts were taken in, says the reconciliation; want %d", n, len(numbers))
	}
}

// TestAdoption_OfTheSameStatementTwiceAtOnceIsMoneyOnce: two people upload it, and two programs work at it.
func TestAdoption_OfTheSameStatementTwiceAtOnceIsMoneyOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, first, numbers := k.stated(t, 6)
	_, second, _ := k.stated(t, 6)
	var both sync.WaitGroup
	for _, job := range []commands.AdoptStatement{first, first, second} {
		both.Go(func() {
			if err := k.workers.AdoptStatement(t.Context(), job, newCause()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	for _, number := range numbers {
		receipt, _, err := bus.LoadUnchecked[payments.Receipt](t.Context(), k.Bus,
			commands.ReceiptID(commands.EnvironmentSandbox, number))
		list := k.receiptEvents(t, number)
		if err != nil || list[0] != "payments.ReceiptRecorded.v2" || receipt.Conflicting {
			t.Errorf("%s: %v, %v", number, list, err)
		}
		for _, more := range list[1:] {
			if more != "payments.ReceiptSighted.v1" {
				t.Errorf("%s: %v", number, list)
			}
		}
	}
}
