package paymentsjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// TestReport_WhatWaitsInSuspenseIsLookedAtLessAndLessOften, also when the clock was put back since it was reported.
func TestReport_WhatWaitsInSuspenseIsLookedAtLessAndLessOften(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receipt := id.New[id.Receipt]()
	k.execute(t, commands.RecordReceipt{
		ReceiptID: receipt, Provider: commands.ProviderMobileMoney, ReceiptNumber: "SJK4X7Q2P1",
		Channel: commands.ChannelPaybill, Shortcode: shortcode, Amount: money.Major(1500, money.KES),
		PaidAt: k.clock.Now(), BillRef: personal.Of("x"), Sighting: commands.SightingBillManager,
	})
	bills := paymentsjobs.NewBills(paymentsjobs.BillsConfig{Bus: k.Bus, Clock: k.clock, Logger: storetest.Quiet()})
	for age, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Minute: 30 * time.Second, 5 * time.Hour: time.Hour, -24 * time.Hour: time.Hour,
	} {
		asked := commands.ReportBill{ReceiptID: receipt, At: k.clock.Now().Add(-age)}
		err := bills.Report(t.Context(), asked, newCause())
		if err == nil || err.Error() != jobrunner.Snooze(want).Error() {
			t.Errorf("%s old: %v, want it in %s", age, err, want)
		}
	}
}
