package billingcases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// reports starts the read models of the report. shown waits until they show the whole log.
func (k *kit) reports(t *testing.T) (cases billingcases.Collections, shown func()) {
	t.Helper()
	views := k.Show(t, billingviews.Collections{}, identityviews.Users{}, paymentsviews.Receipts{})
	cases = billingcases.Collections{
		Settings: usecases.RecordedSettings(k.Bus), Collections: billingviews.CollectionsQuery{Views: views},
		Receipts: paymentsviews.ReceiptsQuery{Views: views},
		Users:    identityviews.UsersQuery{Views: views}, Clock: k.clock,
	}
	return cases, func() {
		t.Helper()
		k.WaitForAll(t, views, billingviews.CollectionsName, identityviews.UsersName,
			paymentsviews.ReceiptsName)
	}
}

// pay puts shillings on Amina's account; cash is taken by the given user.
func (k *kit) pay(t *testing.T, channel string, shillings int64, by id.User) {
	t.Helper()
	receipt, asked := id.New[id.Receipt](), coretest.Ask(k.acme)
	if !by.IsZero() {
		asked.Meta.Actor.ID = by.String()
		k.Run(t, asked.Meta, commands.RecordReceipt{
			ReceiptID: receipt, OrgID: k.acme, Provider: commands.ProviderCash,
			ReceiptNumber: "C" + receipt.String()[24:], Channel: channel, Amount: money.Major(shillings, money.KES),
			PaidAt: k.clock.Now(), Sighting: commands.SightingCash,
		})
	}
	k.Run(t, coretest.Ask(k.acme).Meta, commands.CreditReceipt{
		SubscriberID: k.amina, OrgID: k.acme, ReceiptID: receipt, Number: "N" + receipt.String()[24:], Channel: channel,
		Amount: money.Major(shillings, money.KES), PaidAt: k.clock.Now(),
	})
}

// member makes a user with a first name in Acme.
func (k *kit) member(t *testing.T, first string) id.User {
	t.Helper()
	user := id.New[id.User]()
	k.Run(t, coretest.Ask(k.acme).Meta, commands.RegisterUser{
		UserID: user, Email: personal.Of(strings.ToLower(first) + "@acme.test"), FirstName: personal.Of(first),
		LastName: personal.Of("Doe"), OrgID: k.acme, Role: events.RoleSupport,
	})
	return user
}

// sum is money by channel and user in the form of the report, in KES; d is zero for several days.
func sum(
	d calendar.Date, total int64, channels []billingcases.ChannelSum, staff []billingcases.StaffSum,
) billingcases.Collected {
	return billingcases.Collected{
		Date: d, Total: money.Major(total, money.KES), Sides: came(total), Channels: channels, Staff: staff,
	}
}

// came are the sides of a sum of which nothing was taken back, in shillings.
func came(shillings int64) billingcases.Sides {
	return billingcases.Sides{Received: money.Major(shillings, money.KES), TakenBack: money.Of(0, money.KES)}
}

func TestCollections_SumsTheOrganizationsDaysChannelsAndHands(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cases, shown := k.reports(t)
	jane, stranger := k.member(t, "Jane"), id.New[id.User]()
	k.clock.Set(time.Date(2026, 3, 2, 20, 59, 59, 0, time.UTC)) // the last second of the second of March
	k.pay(t, commands.ChannelPrompt, 100, id.User{})
	k.clock.Set(time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC))
	k.pay(t, commands.ChannelCash, 20, jane)
	k.pay(t, commands.ChannelCash, 5, stranger)
	k.pay(t, commands.ChannelCash, 3, jane)
	shown()
	got, err := cases.Report(t.Context(), k.acme, billingcases.CollectionsInput{From: today.AddDays(-1)})
	if err != nil {
		t.Fatal(err)
	}
	shillings := func(n int64) money.Amount { return money.Major(n, money.KES) }
	prompt := billingcases.ChannelSum{Channel: "stk", Total: shillings(100), Sides: came(100), Count: 1}
	cash := billingcases.ChannelSum{Channel: "cash", Total: shillings(28), Sides: came(28), Count: 3}
	ofCash := func(user id.User, total, count int64) billingcases.StaffSum {
		return billingcases.StaffSum{
			UserID: user, Total: shillings(total), Sides: came(total), Count: count,
			Channels: []billingcases.ChannelSum{
				{Channel: "cash", Total: shillings(total), Sides: came(total), Count: count},
			},
		}
	}
	hands := []billingcases.StaffSum{ofCash(jane, 23, 2), ofCash(stranger, 5, 1)}
	want := billingcases.CollectionsReport{
		From: today.AddDays(-1), To: today, Currency: money.KES, Names: map[id.User]string{jane: "Jane Doe"},
		All: sum(calendar.Date{}, 128, []billingcases.ChannelSum{cash, prompt}, hands),
		Days: []billingcases.Collected{
			sum(today.AddDays(-1), 100, []billingcases.ChannelSum{prompt}, nil),
			sum(today, 28, []billingcases.ChannelSum{cash}, hands),
		},
		Rows: []billingcases.CollectedPart{
			{Date: today.AddDays(-1), Channel: "stk", Total: shillings(100), Sides: came(100), Count: 1},
			{Date: today, Channel: "cash", TakenBy: jane, Total: shillings(23), Sides: came(23), Count: 2},
			{Date: today, Channel: "cash", TakenBy: stranger, Total: shillings(5), Sides: came(5), Count: 1},
		},
	}
	byHand := cmpopts.SortSlices(func(a, b billingcases.CollectedPart) bool { return a.Total.Minor > b.Total.Minor })
	if diff := cmp.Diff(want, got, byHand); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	theirs, err := cases.Report(t.Context(), k.other, billingcases.CollectionsInput{})
	empty := billingcases.CollectionsReport{
		From: today, To: today, Currency: money.KES, All: sum(calendar.Date{}, 0, nil, nil),
		Days: []billingcases.Collected{sum(today, 0, nil, nil)},
	}
	if diff := cmp.Diff(empty, theirs, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("another organization (-want +got): %v\n%s", err, diff)
	}
}

// Whoever compares the sum with the paybill's statement sees why they differ.
func TestCollections_SayWhatWaitsInSuspense(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cases, shown := k.reports(t)
	arrives := func(org id.Organization, channel string, shillings int64) id.Receipt {
		t.Helper()
		receipt := id.New[id.Receipt]()
		k.Run(t, coretest.Ask(org).Meta, commands.RecordReceipt{
			ReceiptID: receipt, OrgID: org, Provider: commands.ProviderMobileMoney,
			ReceiptNumber: "W" + receipt.String()[24:], Channel: channel, Amount: money.Major(shillings, money.KES),
			PaidAt: k.clock.Now(), Sighting: commands.SightingConfirmation,
		})
		return receipt
	}
	held := func(org id.Organization, channel string, shillings int64) id.Receipt {
		t.Helper()
		receipt := arrives(org, channel, shillings)
		k.Run(t, coretest.Ask(org).Meta, commands.HoldReceipt{ReceiptID: receipt, Reason: commands.HeldNoMatch})
		return receipt
	}
	k.clock.Set(time.Date(2026, 3, 2, 20, 59, 59, 0, time.UTC)) // the last second of the second of March
	held(k.acme, commands.ChannelPaybill, 1500)
	k.clock.Set(time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC))
	held(k.acme, commands.ChannelPaybill, 800)
	placed := held(k.acme, commands.ChannelPaybill, 50)
	held(k.other, commands.ChannelPaybill, 7)
	k.Run(t, coretest.Ask(k.acme).Meta, commands.AttributeReceipt{
		ReceiptID: placed, OrgID: k.acme, SubscriberID: k.amina,
	})
	arrives(k.acme, commands.ChannelPaybill, 9) // not looked at yet
	shown()
	in := billingcases.CollectionsInput{From: today.AddDays(-1)}
	got, err := cases.Report(t.Context(), k.acme, in)
	want := []billingcases.WaitingPart{
		{Date: today.AddDays(-1), Channel: "c2b", Amount: money.Major(1500, money.KES), Count: 1},
		{Date: today, Channel: "c2b", Amount: money.Major(800, money.KES), Count: 1},
	}
	if diff := cmp.Diff(want, got.Waiting); diff != "" || err != nil {
		t.Errorf("what waits (-want +got): %v\n%s", err, diff)
	}
	if one, err := cases.Report(t.Context(), k.acme, billingcases.CollectionsInput{}); err != nil ||
		len(one.Waiting) != 1 || one.All.Total.Minor != 0 {
		t.Errorf("of one day: %+v, %v", one, err)
	}
}

func TestCollections_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cases, _ := k.reports(t)
	for name, in := range map[string]billingcases.CollectionsInput{
		"backwards": {From: today, To: today.AddDays(-1)}, "begins tomorrow": {From: today.AddDays(1)},
		"over a year": {From: today.AddDays(-366)},
	} {
		_, err := cases.Report(t.Context(), k.acme, in)
		coretest.Faulty(t, name, err, "to")
	}
	if _, err := cases.Report(t.Context(), k.acme,
		billingcases.CollectionsInput{From: today.AddDays(-365)}); err != nil {
		t.Errorf("a leap year: %v", err)
	}
	_, err := cases.Report(t.Context(), id.New[id.Organization](), billingcases.CollectionsInput{})
	coretest.Refused(t, "unknown organization", err, "organization_not_found")
}
