package paymentsapi_test

import (
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestReconciliation_TheSameStatementIsKeptOnce, as the same file of an import is the same import: otherwise an
// administrator fills the database of all tenants. There are so many a day.
func TestReconciliation_TheSameStatementIsKeptOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	k.Quiet(t)
	file := "Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.,Details\nSJK0000001," + statedAt(k.Clock.Now()) +
		",5,,10000008,x\n"
	kept, taken := map[string]bool{}, 0
	for {
		a := k.Do(t, statementRequest(apitest.Acme, apitest.Admin, file))
		if a.Status == http.StatusTooManyRequests {
			if a.Code() != "rate_limited" || a.Header.Get("Retry-After") == "" {
				t.Errorf("refused: %s", a.Body)
			}
			break
		}
		var out shownReconciliation
		a.Into(t, &out)
		kept[out.ID] = true
		if taken++; taken > 40 {
			break
		}
	}
	k.Quiet(t)
	if len(kept) != 1 || taken != 20 {
		t.Errorf("one file is kept %d times of %d", len(kept), taken)
	}
	other := k.Do(t, statementRequest(apitest.Domain, apitest.Super, k.statementOf(moneytest.PlatformShortcode,
		"SJK0000003,"+statedAt(k.Clock.Now())+",Reversal,,-1500.00,,")))
	if other.Status != http.StatusAccepted {
		t.Errorf("another one's: %d %s", other.Status, other.Body)
	}
}

// TestReconciliation_TheSameStatementIsComparedAgain with what is here then.
func TestReconciliation_TheSameStatementIsComparedAgain(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true})
	k.fault(t, provider.Faults{DropCallbacks: 1})
	lost := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", commands.AccountNumber(1_000_000), 250)
	k.fault(t, provider.Faults{})
	file := k.statementOf(moneytest.PlatformShortcode)
	first := k.upload(t, apitest.Domain, apitest.Super, file)
	k.Sim.Resend(lost.ReceiptNumber)
	k.Quiet(t)
	again := k.upload(t, apitest.Domain, apitest.Super, file)
	if len(first.MissingHere) != 1 || again.ID != first.ID || again.State != "compared" || again.Matched != 1 ||
		len(again.MissingHere) > 0 || again.Figures.MissingHere > 0 {
		t.Errorf("first %+v, again %+v", first, again)
	}
}
