package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestCollections_EachSumOfAMonthIsItsReceipts: a month has cash, mobile money by prompt and by paybill, money that
// waits in suspense until the next day, a receipt that is taken back and one that is moved. A clerk who opens a sum
// sees the receipts that make it, to the cent, and why each of them counts.
func TestCollections_EachSumOfAMonthIsItsReceipts(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	begins := time.Now().AddDate(0, 0, 40)
	begins = time.Date(begins.Year(), begins.Month(), 10, 7, 0, 0, 0, time.UTC) // ten in the morning in Nairobi
	moving := clock.NewMovable(clock.System(), time.Until(begins))
	k.clock = moving
	k.bank.Advance(time.Until(begins))
	k.start().signIn()
	k.paybillReady()
	k.organization("other", "admin@other.test")
	amina, account := k.subscriber("254711000701")
	brian, _ := k.subscriber("254711000702")
	wrong := k.takes(amina, 200.5, "Book 1")
	k.takes(brian, 500, "Book 2")
	k.paid(k.prompt(amina, 700), "SUCCESS")
	hers := k.receiptIn("matched", k.pay("254711000701", account, 1000))
	k.settled()
	waits := k.waitsOfAcme(k.pay("254799000703", "nobody knows", 300))
	moving.Advance(24 * time.Hour)
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	other, _ := k.login("other", "admin@other.test", testPassword)
	k.must(k.admin, "POST", "/receipts/"+wrong+"/reverse", map[string]string{"reason": "not paid"})
	k.must(k.admin, "POST", "/receipts/"+hers+"/reattribute",
		map[string]string{"subscriberId": brian, "reason": "his"})
	k.must(k.admin, "POST", "/receipts/"+waits+"/attribute", map[string]string{"subscriberId": brian})

	first, second := begins.Format(time.DateOnly), begins.AddDate(0, 0, 1).Format(time.DateOnly)
	month := "?from=" + begins.Format("2006-01") + "-01&to=" + second
	k.eventually("the report to have everything", func(ctx context.Context) (bool, error) {
		report, err := k.admin.call(ctx, http.MethodGet, "/reports/collections"+month, "", nil)
		return report.at("received") == "3700.5" && report.at("takenBack") == "1200.5", err
	})
	k.expectSums(month)
	k.expectBehind("?from="+first+"&to="+first+"&side=takenBack", nil)
	k.expectBehind("?from="+second+"&side=takenBack", []string{"reattributed -1000 c2b", "reversed -200.5 cash"})
	k.expectBehind("?from="+second+"&side=received", []string{"placed 300 c2b", "reattributed 1000 c2b"})
	k.expectBehind(month+"&channel=stk", []string{"paid 700 stk"})
	if theirs := k.all(other, "/reports/collections/receipts"+month); len(theirs) > 0 {
		t.Errorf("another organization reads %v", theirs)
	}
	k.soundBooks()
}

// takes records cash and gives its receipt.
func (k *kit) takes(subscriber string, amount float64, reference string) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": subscriber, "amount": amount, "reference": reference,
	}).text("receiptId")
}

// receiptIn waits until a receipt with a number is in a state, and gives its id.
func (k *kit) receiptIn(state, number string) (receipt string) {
	k.t.Helper()
	k.eventually("receipt "+number+" to be "+state, func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, http.MethodGet, "/receipts?state="+state+"&receiptNumber="+number, "", nil)
		for _, r := range page.list("data") {
			receipt = r.text("id")
		}
		return receipt != "", err
	})
	return receipt
}

// waitsOfAcme has the platform give money without an owner to acme, in whose suspense it is then, and gives its id.
func (k *kit) waitsOfAcme(number string) (receipt string) {
	k.t.Helper()
	k.eventually("money in suspense", func(ctx context.Context) (bool, error) {
		page, err := k.root.call(ctx, http.MethodGet, "/receipts?state=suspense&receiptNumber="+number, "", nil)
		for _, r := range page.list("data") {
			receipt = r.text("id")
		}
		return receipt != "", err
	})
	k.must(k.root, "POST", "/receipts/"+receipt+"/assign", map[string]string{"orgId": k.org()})
	return receipt
}

// expectBehind compares the rows of a sum: why each counts, its amount and its channel.
func (k *kit) expectBehind(query string, want []string) {
	k.t.Helper()
	var got []string
	for _, r := range k.all(k.admin, "/reports/collections/receipts"+query) {
		got = append(got, fmt.Sprintf("%s %v %s", r.text("why"), r["amount"], r.text("channel")))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Errorf("%s (-want +got):\n%s", query, diff)
	}
}

// cents is an amount of an answer in minor units.
func cents(amount any) int64 {
	v, _ := amount.(float64)
	return int64(math.Round(v * 100))
}

// expectSums compares each sum of the report of some days with the receipts behind it: in all, by day, by channel, by
// member of staff, and each of these by day.
func (k *kit) expectSums(days string) {
	k.t.Helper()
	sums := 0
	one := func(query string, of answer) {
		k.t.Helper()
		sums++
		for side, want := range map[string]int64{
			"received": cents(of["received"]), "takenBack": -cents(of["takenBack"]), "": cents(of["total"]),
		} {
			asked := query
			if side != "" {
				asked += "&side=" + side
			}
			var got int64
			for _, r := range k.all(k.admin, "/reports/collections/receipts"+asked) {
				got += cents(r["amount"])
			}
			if got != want {
				k.t.Errorf("%s: the sum is %d cents, its receipts %d", asked, want, got)
			}
		}
	}
	parts := func(query string, of answer) {
		k.t.Helper()
		one(query, of)
		for _, c := range of.list("channels") {
			one(query+"&channel="+c.text("channel"), c)
		}
		for _, s := range of.list("staff") {
			one(query+"&takenBy="+s.text("userId"), s)
		}
	}
	report := k.must(k.admin, "GET", "/reports/collections"+days, nil)
	parts(days, report)
	for _, day := range report.list("days") {
		parts("?from="+day.text("date")+"&to="+day.text("date"), day)
	}
	if sums < 20 {
		k.t.Errorf("only %d sums were compared", sums)
	}
}
