package paymentsapi_test

import (
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// inSuspense counts the money that waits on a host, which the list and its sum have alike.
func (k *moneyKit) inSuspense(t *testing.T, host, as string) int {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	k.Do(t, apitest.Request{Host: host, As: as, Path: "/receipts?state=suspense"}).Into(t, &list)
	var sum struct{ Count int }
	k.Do(t, apitest.Request{Host: host, As: as, Path: "/reports/suspense"}).Into(t, &sum)
	if sum.Count != len(list.Data) {
		t.Errorf("%s: the list has %d, the sum %d", host, len(list.Data), sum.Count)
	}
	return len(list.Data)
}

// A super_admin who gave money to the wrong organization corrects it: the first one has it no more, and the second one
// places it, after which it stays there.
func TestReceipts_MoneyThatWasAssignedByMistakeIsAssignedAgain(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	paid := k.Paybill(t, moneytest.PlatformShortcode, "254799000000", "nobody knows", 100)
	receipt := commands.ReceiptID(commands.EnvironmentSandbox, paid.ReceiptNumber).String()
	other, acme := k.Orgs["other"].ID.String(), k.Org.String()
	assign := func(to string, status int) apitest.Answer {
		t.Helper()
		body := map[string]any{"orgId": to}
		a := k.Post(t, apitest.Domain, apitest.Super, "/receipts/"+receipt+"/assign", body, status)
		k.Quiet(t)
		return a
	}
	assign(other, 200)
	if k.inSuspense(t, apitest.Other, apitest.OtherAdmin) != 1 || k.inSuspense(t, apitest.Domain, apitest.Super) != 0 {
		t.Error("the first one has it not alone")
	}
	var found struct {
		Data []struct{ ID, OrgID string }
	}
	byNumber := "/receipts?receiptNumber=" + paid.ReceiptNumber
	find := apitest.Request{Host: apitest.Domain, As: apitest.Super, Path: byNumber}
	k.Do(t, find).Into(t, &found)
	if len(found.Data) != 1 || found.Data[0].ID != receipt || found.Data[0].OrgID != other {
		t.Errorf("found by its number: %+v", found)
	}
	for range 2 {
		assign(acme, 200)
	}
	if k.inSuspense(t, apitest.Other, apitest.OtherAdmin) != 0 || k.inSuspense(t, apitest.Acme, apitest.Admin) != 1 {
		t.Error("the second one has it not alone")
	}
	for _, path := range []string{"/receipts/" + receipt, "/receipts/" + receipt + "/proof"} {
		if a := k.Do(t, apitest.Request{Host: apitest.Other, As: apitest.OtherAdmin, Path: path}); a.Status != 404 {
			t.Errorf("%s of who had it: %d", path, a.Status)
		}
		if a := k.Do(t, apitest.Request{As: apitest.Admin, Path: path}); a.Status != http.StatusOK {
			t.Errorf("%s of who has it: %d", path, a.Status)
		}
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+receipt+"/attribute",
		map[string]any{"subscriberId": k.Amina.String()}, 200)
	k.Quiet(t)
	k.expectCredited(t, 100, 1)
	if a := assign(other, 409); a.Code() != "receipt_matched" {
		t.Errorf("credited money is moved: %s", a.Body)
	}
	found.Data = nil
	k.Do(t, find).Into(t, &found)
	if len(found.Data) != 0 {
		t.Errorf("credited money is on the root host: %+v", found)
	}
}
