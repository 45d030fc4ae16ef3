package paymentsapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// The report of settlement, as a client reads it.
type (
	shownOwed struct {
		OrgID, Slug, Name           string
		Amount, Received, TakenBack json.Number
		Count                       int64
	}
	shownSettlement struct {
		Date, Currency string
		Total          json.Number
		Count          int64
		Organizations  []shownOwed
	}
)

// settlement reads the report of a day once its read models show the whole log.
func (k *moneyKit) settlement(t *testing.T, date string) (out shownSettlement) {
	t.Helper()
	k.Shows(t, paymentsviews.SettlementName, identityviews.OrganizationsName)
	a := k.Do(t, apitest.Request{Host: apitest.Domain, As: apitest.Super, Path: "/reports/settlement?date=" + date})
	if a.Into(t, &out); a.Status != 200 {
		t.Fatalf("settlement: %d %s", a.Status, a.Body)
	}
	return out
}

// The platform owes what came to accounts over its own paybill on a day. What waits, cash and the money of an
// organization's own shortcode are not owed, and a day that is over stays as it is.
func TestSettlement_OwesWhatAccountsGotOverThePlatformsPaybill(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	nairobi := time.FixedZone("EAT", 3*60*60)
	day := func() string { return k.Clock.Now().In(nairobi).Format(time.DateOnly) }
	first, phone := day(), "254733000000"
	wrong := k.Paybill(t, moneytest.PlatformShortcode, phone, commands.AccountNumber(1_000_000), 100)
	k.Paybill(t, moneytest.PlatformShortcode, phone, commands.AccountNumber(1_000_001), 40)
	k.Paybill(t, moneytest.PlatformShortcode, phone, "10000", 30)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 9, "reference": "Book 1"}, 201)
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	k.Paybill(t, "600777", phone, commands.AccountNumber(1_000_000), 70)
	acme, other := k.Org.String(), k.Orgs["other"].ID.String()
	want := shownSettlement{Date: first, Currency: "KES", Total: "140.00", Count: 2, Organizations: []shownOwed{
		{acme, "acme", "The acme", "100.00", "100.00", "0.00", 1},
		{other, "other", "The other", "40.00", "40.00", "0.00", 1},
	}}
	if diff := cmp.Diff(want, k.settlement(t, first)); diff != "" {
		t.Errorf("the day (-want +got):\n%s", diff)
	}
	k.Clock.Advance(24 * time.Hour)
	second := day()
	receipt := commands.ReceiptID(commands.EnvironmentSandbox, wrong.ReceiptNumber).String()
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt+"/reverse", map[string]any{"reason": "not paid"}, 200)
	k.Quiet(t)
	if diff := cmp.Diff(want, k.settlement(t, first)); diff != "" {
		t.Errorf("the day that is over (-want +got):\n%s", diff)
	}
	next := shownSettlement{Date: second, Currency: "KES", Total: "-100.00", Count: -1, Organizations: []shownOwed{
		{acme, "acme", "The acme", "-100.00", "0.00", "100.00", -1},
	}}
	if diff := cmp.Diff(next, k.settlement(t, second)); diff != "" {
		t.Errorf("the next day (-want +got):\n%s", diff)
	}
	var list struct {
		Data []struct {
			ReceiptNumber *string
			Amount        json.Number
		}
	}
	k.Do(t, apitest.Request{Host: apitest.Domain, As: apitest.Super,
		Path: "/reports/settlement/receipts?orgId=" + acme + "&date=" + first}).Into(t, &list)
	if len(list.Data) != 1 || *list.Data[0].ReceiptNumber != wrong.ReceiptNumber || list.Data[0].Amount != "100.00" {
		t.Errorf("the payments of the day: %+v", list)
	}
	k.settledOver(t, first, second)
	table := k.Do(t, apitest.Request{Host: apitest.Domain, As: apitest.Super,
		Path: "/reports/settlement?format=csv"}) // yesterday, which is the first day
	if diff := cmp.Diff(fmt.Sprintf("date,to,orgId,slug,name,amount,received,takenBack,currency,count\r\n"+
		"%[1]s,%[1]s,%[2]s,acme,The acme,100.00,100.00,0.00,KES,1\r\n"+
		"%[1]s,%[1]s,%[3]s,other,The other,40.00,40.00,0.00,KES,1\r\n",
		first, acme, other), string(table.Body)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// settledOver checks the settlement of both days of the test above.
func (k *moneyKit) settledOver(t *testing.T, first, second string) {
	t.Helper()
	acme, other := k.Org.String(), k.Orgs["other"].ID.String()
	both := shownSettlement{Date: first, Currency: "KES", Total: "40.00", Count: 1, Organizations: []shownOwed{
		{acme, "acme", "The acme", "0.00", "100.00", "100.00", 0},
		{other, "other", "The other", "40.00", "40.00", "0.00", 1},
	}}
	if diff := cmp.Diff(both, k.settlement(t, first+"&to="+second)); diff != "" {
		t.Errorf("both days (-want +got):\n%s", diff)
	}
	var list struct{ Data []struct{} }
	k.Do(t, apitest.Request{Host: apitest.Domain, As: apitest.Super,
		Path: "/reports/settlement/receipts?orgId=" + acme + "&date=" + first + "&to=" + second}).Into(t, &list)
	if len(list.Data) != 2 {
		t.Errorf("the payments of both days: %+v", list)
	}
	for _, wrong := range []string{"date=" + second + "&to=" + first, "date=2020-01-01&to=" + second, "to=2999-01-01"} {
		refused := k.Do(t, apitest.Request{Host: apitest.Domain, As: apitest.Super,
			Path: "/reports/settlement?" + wrong})
		if refused.Status != 422 {
			t.Errorf("%s: %d", wrong, refused.Status)
		}
	}
}

// An administrator sees what the platform owes to the own organization and the payments behind it, and nothing of
// another one's.
func TestSettlement_AnOrganizationSeesItsOwnAlone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	today := k.Clock.Now().In(time.FixedZone("EAT", 3*60*60)).Format(time.DateOnly)
	own := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", commands.AccountNumber(1_000_000), 100)
	k.Paybill(t, moneytest.PlatformShortcode, "254733000000", commands.AccountNumber(1_000_001), 40) // another one's
	k.Shows(t, paymentsviews.SettlementName, identityviews.OrganizationsName)
	var report shownSettlement
	k.Do(t, apitest.Request{As: apitest.Admin, Path: "/reports/settlement?date=" + today}).Into(t, &report)
	want := shownSettlement{Date: today, Currency: "KES", Total: "100.00", Count: 1, Organizations: []shownOwed{
		{k.Org.String(), "acme", "The acme", "100.00", "100.00", "0.00", 1},
	}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	var list struct {
		Data []struct{ ReceiptNumber string }
	}
	k.Do(t, apitest.Request{As: apitest.Admin, Path: "/reports/settlement/receipts?date=" + today}).Into(t, &list)
	if len(list.Data) != 1 || list.Data[0].ReceiptNumber != own.ReceiptNumber {
		t.Errorf("the payments: %+v", list)
	}
	other := "/reports/settlement/receipts?orgId=" + k.Orgs["other"].ID.String()
	apitest.Sends(t, k.Kit.Kit, other, apitest.Request{Path: other, As: apitest.Admin},
		apitest.Is(400, "unknown_parameter"))
}

func TestSettlement_IsNeitherForSupportNorForStrangers(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for _, path := range []string{"/reports/settlement", "/reports/settlement/receipts"} {
		apitest.Sends(t, k.Kit.Kit, path, apitest.Request{Path: path, As: apitest.Support},
			apitest.Is(403, "role_required"))
		apitest.Sends(t, k.Kit.Kit, path, apitest.Request{Host: apitest.Domain, Path: path},
			apitest.Is(401, "unauthenticated"))
	}
	for _, path := range []string{"?date=2999-01-01", "/receipts?orgId=acme", "?date=today"} {
		apitest.Sends(t, k.Kit.Kit, path, apitest.Request{Host: apitest.Domain, As: apitest.Super,
			Path: "/reports/settlement" + path}, apitest.Is(422, "invalid_input"))
	}
}
