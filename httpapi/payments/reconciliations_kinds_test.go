package paymentsapi_test

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// portalStatement is a statement of the portal in one of its forms, about Amina's account and the day of the kit.
func portalStatement(t *testing.T, k *moneyKit, name string) string {
	t.Helper()
	file, err := os.ReadFile("../../gateways/mobilemoney/testdata/statements/" + name)
	if err != nil {
		t.Fatal(err)
	}
	day := k.Clock.Now().AddDate(0, 0, -20)
	for day.Day() < 13 || day.Month() != day.AddDate(0, 0, 1).Month() { // a day that is no month
		day = day.AddDate(0, 0, -1)
	}
	next := day.AddDate(0, 0, 1)
	return strings.NewReplacer(
		"10000008", commands.AccountNumber(1_000_000), "600100", moneytest.PlatformShortcode,
		"15-03-2026", day.Format("02-01-2006"), "16-03-2026", next.Format("02-01-2006"),
		"16/03/2026", day.Format("02/01/2006"),
	).Replace(string(file))
}

// TestReconciliation_LoansTransfersAndReversalsAreNoReceipts: three payments of customers stand among all else that
// moves on a shortcode. They are taken in once, also when their callbacks come afterwards.
func TestReconciliation_LoansTransfersAndReversalsAreNoReceipts(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"older.csv": "TESTA0000", "newer.csv": "TESTN0000"} {
		k := newMoneyKit(t, moneytest.Options{})
		got := k.upload(t, apitest.Domain, apitest.Super, portalStatement(t, k, name))
		if got.State != "compared" || len(got.MissingHere) != 3 || got.Figures.MissingHereAmount != 3650 ||
			got.Figures.Attention != 2 || len(got.Attention) != 2 {
			t.Fatalf("%s: %+v", name, got)
		}
		for range 2 {
			k.Post(t, apitest.Domain, apitest.Super, "/reconciliations/"+got.ID+"/adopt", map[string]any{}, 202)
			k.Quiet(t)
		}
		var receipts struct {
			Data []struct{ ReceiptNumber string }
		}
		k.Do(t, apitest.Request{Host: apitest.Acme, Path: "/receipts", As: apitest.Admin}).Into(t, &receipts)
		after := k.reconciliation(t, apitest.Domain, apitest.Super, got.ID)
		if after.Adopted != 3 || len(after.MissingHere) != 0 || after.Matched != 3 || len(after.Attention) != 2 {
			t.Errorf("%s: adopted %+v", name, after)
		}
		have, n := k.Credited(t, k.Amina)
		_, err := k.Sim.Pay(t.Context(), provider.Paybill{
			ShortCode: moneytest.PlatformShortcode, MSISDN: "254700000222", ReceiptNumber: prefix + "1",
			BillRefNumber: commands.AccountNumber(1_000_000),
			Amount:        provider.Amount{Amount: money.Major(1500, money.KES)},
		})
		if err != nil {
			t.Fatal(err)
		}
		k.Quiet(t)
		if again, m := k.Credited(t, k.Amina); again != have || m != n || have == 0 {
			t.Errorf("%s: %d in %d receipts, and %d in %d after the callback of one of them", name, have, n, again, m)
		}
	}
}

// TestReconciliation_SaysWhatItWouldDoInSums before anything is taken in.
func TestReconciliation_SaysWhatItWouldDoInSums(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	got := k.upload(t, apitest.Domain, apitest.Super, portalStatement(t, k, "older.csv"))
	rows, in := 0, 0.0
	for _, kind := range got.Figures.Kinds {
		rows += kind.Rows
		if kind.Kind == "loan" {
			in = kind.In
		}
	}
	if rows != 12 || in != 50_000 {
		t.Errorf("%+v", got.Figures)
	}
	for _, a := range got.Attention {
		if a.ReceiptNumber == "TESTA00010" && (a.Why != "unknown" || a.Side != "in" || a.Amount != 300 ||
			a.Details != "Something Never Seen Before" || a.ReceiptID != nil) {
			t.Errorf("%+v", a)
		}
	}
	k.expectCredited(t, 0, 0)
}

// TestReconciliation_AsksForTheOrderOfDayAndMonth where no row decides, and reads all rows in the order that is chosen.
func TestReconciliation_AsksForTheOrderOfDayAndMonth(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	year := strconv.Itoa(k.Clock.Now().Year() - 1)
	date := "02/03/" + year
	file := laterHeader + "SJK0000002," + date + " 14:05:00,Pay Bill,70.00,,254700000000 - X,1\n"
	send := func(order string) apitest.Answer {
		r := statementRequest(apitest.Domain, apitest.Super, file)
		r.Path += order
		return k.Do(t, r)
	}
	asked := send("")
	if asked.Status != http.StatusUnprocessableEntity || asked.Code() != "date_order_needed" ||
		!strings.Contains(string(asked.Body), date) {
		t.Errorf("not asked: %d %s", asked.Status, asked.Body)
	}
	if a := send("?dateOrder=ymd"); a.Status != http.StatusUnprocessableEntity || a.Code() != "invalid_input" {
		t.Errorf("an order that there is not: %d %s", a.Status, a.Body)
	}
	for order, want := range map[string]string{"mdy": "-02-03T11:05:00Z", "dmy": "-03-02T11:05:00Z"} {
		var made struct{ ID string }
		a := send("?dateOrder=" + order)
		a.Into(t, &made)
		k.Quiet(t)
		var got struct{ State, From string }
		read := apitest.Request{Host: apitest.Domain, Path: "/reconciliations/" + made.ID, As: apitest.Super}
		k.Do(t, read).Into(t, &got)
		if got.State != "compared" || got.From != year+want {
			t.Errorf("%s: %s, want %s%s; %d", order, got, year, want, a.Status)
		}
	}
}
