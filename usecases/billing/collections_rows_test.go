package billingcases_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// behind reads the rows behind a sum as texts, the newest first.
func (k *kit) behind(
	t *testing.T, cases billingcases.Collections, org id.Organization, in billingcases.CollectedInput,
) (list []string) {
	t.Helper()
	rows, err := cases.Rows(t.Context(), org, in, billingviews.CollectedKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		list = append(list, fmt.Sprintf("%s %s %s %s %v", r.Why, r.Amount, r.Number, r.TakenByName, r.SubscriberID ==
			k.amina))
	}
	return list
}

// records a receipt of Acme, which a user enters, and gives its id.
func (k *kit) records(t *testing.T, channel, number string, shillings int64, by id.User) id.Receipt {
	t.Helper()
	receipt, asked := id.New[id.Receipt](), coretest.Ask(k.acme)
	asked.Meta.Actor.ID = by.String()
	k.Run(t, asked.Meta, commands.RecordReceipt{
		ReceiptID: receipt, OrgID: k.acme, Provider: commands.ProviderMobileMoney, ReceiptNumber: number,
		Channel: channel, Amount: money.Major(shillings, money.KES), PaidAt: k.clock.Now(),
		Sighting: commands.SightingConfirmation,
	})
	return receipt
}

// credits puts a receipt on Amina's account.
func (k *kit) credits(t *testing.T, receipt id.Receipt, channel string, shillings int64) {
	t.Helper()
	k.Run(t, coretest.Ask(k.acme).Meta, commands.CreditReceipt{
		SubscriberID: k.amina, OrgID: k.acme, ReceiptID: receipt, Channel: channel,
		Amount: money.Major(shillings, money.KES), PaidAt: k.clock.Now(),
	})
}

// twoDays has cash of 20 on the first day, which is taken back on the second one, and 50 over the paybill, which come
// on the first day and leave suspense on the second one.
func (k *kit) twoDays(t *testing.T, jane id.User) {
	t.Helper()
	cash := k.records(t, commands.ChannelCash, "Book 1", 20, jane)
	k.credits(t, cash, commands.ChannelCash, 20)
	waits := k.records(t, commands.ChannelPaybill, "SJK4H7L2MN", 50, jane)
	k.Run(t, coretest.Ask(k.acme).Meta, commands.HoldReceipt{ReceiptID: waits, Reason: commands.HeldNoMatch})
	k.clock.Advance(24 * time.Hour)
	k.Run(t, coretest.Ask(k.acme).Meta, commands.AttributeReceipt{
		ReceiptID: waits, OrgID: k.acme, SubscriberID: k.amina,
	})
	k.credits(t, waits, commands.ChannelPaybill, 50)
	k.Run(t, coretest.Ask(k.acme).Meta, commands.ReverseReceipt{ReceiptID: cash, OrgID: k.acme, Reason: "not paid"})
	k.Run(t, coretest.Ask(k.acme).Meta, commands.WithdrawReceipt{
		SubscriberID: k.amina, ReceiptID: cash, Reason: "the payment was reversed",
	})
}

func TestCollections_TellBothSidesOfASum(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cases, shown := k.reports(t)
	k.twoDays(t, k.member(t, "Jane"))
	shown()
	report, err := cases.Report(t.Context(), k.acme, billingcases.CollectionsInput{From: today})
	if err != nil {
		t.Fatal(err)
	}
	sides := func(received, takenBack int64) billingcases.Sides {
		return billingcases.Sides{
			Received: money.Major(received, money.KES), TakenBack: money.Major(takenBack, money.KES),
		}
	}
	second := report.Days[1]
	for name, c := range map[string]struct {
		sides billingcases.Sides
		total money.Amount
		want  billingcases.Sides
	}{
		"both days":              {report.All.Sides, report.All.Total, sides(70, 20)},
		"the second day":         {second.Sides, second.Total, sides(50, 20)},
		"cash of the second day": {second.Channels[1].Sides, second.Channels[1].Total, sides(0, 20)},
		"Jane":                   {report.All.Staff[0].Sides, report.All.Staff[0].Total, sides(20, 20)},
		"Jane's cash":            {report.All.Staff[0].Channels[0].Sides, money.Of(0, money.KES), sides(20, 20)},
		"the last row":           {report.Rows[2].Sides, report.Rows[2].Total, sides(0, 20)},
	} {
		if c.sides != c.want || c.total != c.sides.Received.Sub(c.sides.TakenBack) {
			t.Errorf("%s: %+v, in all %s", name, c.sides, c.total)
		}
	}
}

// A sum leads to the receipts that it is made of, and says why each of them counts.
func TestCollections_LeadToTheRowsOfASum(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cases, shown := k.reports(t)
	jane := k.member(t, "Jane")
	k.twoDays(t, jane)
	shown()
	both := billingcases.CollectionsInput{From: today}
	for name, c := range map[string]struct {
		in   billingcases.CollectedInput
		want []string
	}{
		"all": {billingcases.CollectedInput{CollectionsInput: both}, []string{
			"reversed KES -20.00 Book 1 Jane Doe true", "placed KES 50.00 SJK4H7L2MN  true",
			"paid KES 20.00 Book 1 Jane Doe true",
		}},
		"taken back on the last day": {
			billingcases.CollectedInput{Side: billingviews.SideTakenBack},
			[]string{"reversed KES -20.00 Book 1 Jane Doe true"},
		},
		"received over the paybill": {
			billingcases.CollectedInput{
				CollectionsInput: both, Channel: commands.ChannelPaybill, Side: billingviews.SideReceived,
			}, []string{"placed KES 50.00 SJK4H7L2MN  true"},
		},
		"Jane's of the first day": {
			billingcases.CollectedInput{
				CollectionsInput: billingcases.CollectionsInput{From: today, To: today}, TakenBy: jane,
			}, []string{"paid KES 20.00 Book 1 Jane Doe true"},
		},
	} {
		if diff := cmp.Diff(c.want, k.behind(t, cases, k.acme, c.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if theirs := k.behind(t, cases, k.other, billingcases.CollectedInput{CollectionsInput: both}); len(theirs) > 0 {
		t.Errorf("another organization reads %v", theirs)
	}
	_, err := cases.Rows(t.Context(), k.acme, billingcases.CollectedInput{
		CollectionsInput: billingcases.CollectionsInput{From: today.AddDays(2)},
	}, billingviews.CollectedKey{}, 1)
	coretest.Faulty(t, "begins after today", err, "to")
	_, err = cases.Rows(t.Context(), id.New[id.Organization](), billingcases.CollectedInput{},
		billingviews.CollectedKey{}, 1)
	coretest.Refused(t, "unknown organization", err, "organization_not_found")
}
