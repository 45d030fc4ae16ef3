package paymentsapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// shownReconciliation has the fields of a reconciliation that the tests compare.
type shownReconciliation struct {
	ID, State string
	Matched   int
	Adopted   int
	Figures   struct {
		MissingHere, MissingThere, Different, Attention, Withdrawals, Charges, Reversals int

		MissingHereAmount float64
		Kinds             []struct {
			Kind    string
			Rows    int
			In, Out float64
		}
	}
	Attention []struct {
		ReceiptNumber, Kind, Side, Why, Details string
		Names                                   []string
		ReceiptID                               *string
		Amount                                  float64
	}

	MissingHere, MissingThere, Different []struct {
		ReceiptNumber string
		Amount, Here  float64
		Why           string
	}
}

// statementOf writes a statement of a shortcode with the movements that the provider knows, and some more lines.
func (k *moneyKit) statementOf(shortcode string, more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Short Code:,%s\n\n", shortcode)
	b.WriteString("Receipt No.,Completion Time,Details,Paid In,Withdrawn,Other Party Info,A/C No.\n")
	for _, moved := range k.Sim.Transactions() {
		if moved.ShortCode == shortcode {
			fmt.Fprintf(&b, "%s,%s,Pay Bill,%s,,%s - PAYER,%s\n", moved.ReceiptNumber, statedAt(moved.At),
				moved.Amount.Decimal(), moved.MSISDN, moved.BillRefNumber)
		}
	}
	return b.String() + strings.Join(more, "\n")
}

// statedAt is an instant as statements write it.
func statedAt(at time.Time) string { return at.Add(3 * time.Hour).UTC().Format("2006-01-02 15:04:05") }

// upload sends a statement and waits until it was compared.
func (k *moneyKit) upload(t *testing.T, host, as, file string) (out shownReconciliation) {
	t.Helper()
	a := k.Do(t, statementRequest(host, as, file))
	if a.Status != http.StatusAccepted {
		t.Fatalf("upload: %d %s", a.Status, a.Body)
	}
	a.Into(t, &out)
	k.Quiet(t)
	return k.reconciliation(t, host, as, out.ID)
}

// statementRequest uploads a file.
func statementRequest(host, as, file string) apitest.Request {
	return apitest.Request{
		Method: "POST", Host: host, Path: "/reconciliations", As: as, Body: file,
		Header: map[string]string{"Content-Type": "text/csv"},
	}
}

// reconciliation reads the outcome as it is now.
func (k *moneyKit) reconciliation(t *testing.T, host, as, which string) (out shownReconciliation) {
	t.Helper()
	k.Do(t, apitest.Request{Host: host, Path: "/reconciliations/" + which, As: as}).Into(t, &out)
	return out
}

func TestReconciliation_FindsWhatIsMissingAndTakesItInOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Live: true})
	account := commands.AccountNumber(1_000_000)
	known := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", account, 100)
	k.fault(t, provider.Faults{DropCallbacks: 1})
	lost := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", account, 250)
	k.fault(t, provider.Faults{})
	now := k.Clock.Now()
	file := k.statementOf(moneytest.PlatformShortcode,
		known.ReceiptNumber+","+statedAt(now)+",Pay Bill Charge,,-5.00,,",
		"SJK0000001,"+statedAt(now)+",Business Payment,,-90.00,,",
		"SJK0000002,"+statedAt(now)+",Pay Bill,70.00,,254700000000 - X,", // it came and was sent back
		"SJK0000003,"+statedAt(now)+",Reversal of SJK0000002,,-70.00,,",
		"SJK0000004,"+statedAt(now.Add(-time.Hour))+",Pay Bill,30.00,,\"254700000000 - =cmd|' /C calc'!A1\",=1+1")
	got := k.upload(t, apitest.Domain, apitest.Super, file)
	if got.State != "compared" || got.Matched != 1 || len(got.MissingHere) != 2 || len(got.Different) != 0 ||
		got.Figures.Charges != 1 || got.Figures.Withdrawals != 1 || got.Figures.Reversals != 1 {
		t.Fatalf("compared: %+v", got)
	}
	k.expectCredited(t, 100, 1)
	for range 2 {
		k.Post(t, apitest.Domain, apitest.Super, "/reconciliations/"+got.ID+"/adopt", map[string]any{}, 202)
		k.Quiet(t)
	}
	if !k.Sim.Resend(lost.ReceiptNumber) {
		t.Error("the confirmation is not sent again")
	}
	k.Quiet(t)
	k.expectCredited(t, 350, 2)
	after := k.reconciliation(t, apitest.Domain, apitest.Super, got.ID)
	if after.Adopted != 2 || len(after.MissingHere) != 0 || after.Matched != 3 {
		t.Errorf("adopted: %+v", after)
	}
	path := "/reconciliations/" + got.ID
	other := k.Do(t, apitest.Request{Host: apitest.Other, Path: path, As: apitest.OtherAdmin})
	support := k.Do(t, apitest.Request{Path: path, As: apitest.Support})
	if other.Status != http.StatusNotFound || support.Status != http.StatusForbidden {
		t.Errorf("another organization: %d, support: %d", other.Status, support.Status)
	}
}

func TestReconciliation_ComparesTheOwnShortcodeWithinItsTime(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	refused := k.Do(t, statementRequest(apitest.Acme, apitest.Admin, k.statementOf("600777", "x")))
	if refused.Code() != "no_own_shortcode" {
		t.Errorf("without a shortcode of its own: %s", refused.Body)
	}
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	k.Quiet(t)
	pay := func(shillings int64) string {
		return k.Paybill(t, "600777", "254733000000", commands.AccountNumber(1_000_000), shillings).ReceiptNumber
	}
	first, unstated, last := pay(10), pay(20), pay(30)
	var lines []string
	for _, line := range strings.Split(k.statementOf("600777"), "\n") {
		switch {
		case strings.HasPrefix(line, unstated):
			continue
		case strings.HasPrefix(line, last):
			line = strings.Replace(line, "30.00", "35.00", 1)
		}
		lines = append(lines, line)
	}
	got := k.upload(t, apitest.Acme, apitest.Admin, strings.Join(lines, "\n"))
	if got.Matched != 1 || len(got.MissingThere) != 1 || got.MissingThere[0].ReceiptNumber != unstated ||
		len(got.Different) != 1 || got.Different[0].Amount != 35 || got.Different[0].Here != 30 {
		t.Errorf("compared, %s being the first: %+v", first, got)
	}
	later := "Receipt No.,Completion Time,Details,Paid In,Withdrawn\nSJK0000001," +
		statedAt(k.Clock.Now().Add(time.Hour)) + ",Pay Bill,1,\n"
	if got := k.upload(t, apitest.Acme, apitest.Admin, later); len(got.MissingThere) != 0 || len(got.MissingHere) != 1 {
		t.Errorf("after the time of the receipts: %+v", got)
	}
	strange := k.statementOf("600778", "A,2026-01-01 00:00:00,,1,,,")
	other := k.Do(t, statementRequest(apitest.Acme, apitest.Admin, strange))
	if other.Code() != "statement_of_another_shortcode" {
		t.Errorf("another shortcode: %s", other.Body)
	}
}

func TestReconciliation_RefusesFilesThatAreNoStatement(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for name, file := range map[string]string{
		"columns": "Name,Phone\nAmina,1\n", "empty": "", "endless": strings.Repeat("x", 1<<20),
		"future": "Receipt No.,Completion Time,Paid In,Withdrawn\nSJK0000001,2099-01-01 00:00:00,1,\n",
	} {
		if a := k.Do(t, statementRequest(apitest.Domain, apitest.Super, file)); a.Status != 422 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	large := k.Do(t, statementRequest(apitest.Domain, apitest.Super, strings.Repeat("x\n", 13<<20)))
	if large.Status != http.StatusRequestEntityTooLarge || large.Code() != "body_too_large" {
		t.Errorf("large: %d", large.Status)
	}
}

// An administrator invents money of a neighbour's receipt number. The neighbour's customer is credited all the same.
func TestReconciliation_AForgedStatementKeepsNoMoneyFromItsOwner(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.configure(t, apitest.Other, apitest.OtherAdmin, direct("600777", "right"), 200)
	k.Quiet(t)
	forged := "Receipt No.,Completion Time,Paid In,Withdrawn,A/C No.\nSJK7777777," +
		statedAt(k.Clock.Now()) + ",900,,1\n"
	got := k.upload(t, apitest.Other, apitest.OtherAdmin, forged)
	k.Post(t, apitest.Other, apitest.OtherAdmin, "/reconciliations/"+got.ID+"/adopt", map[string]any{}, 202)
	k.Quiet(t)
	_, err := k.Sim.Pay(t.Context(), provider.Paybill{
		ShortCode: moneytest.PlatformShortcode, MSISDN: "254733000000",
		BillRefNumber: commands.AccountNumber(1_000_000),
		Amount:        provider.Amount{Amount: money.Major(400, money.KES)}, ReceiptNumber: "SJK7777777",
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Quiet(t)
	k.expectCredited(t, 400, 1)
}
